import LedgerRows
import Testing

@testable import DunlinTypes

@Suite struct `Secret fields` {
    static let usual = [
        "Authorization", "proxy-authorization", "COOKIE", "Set-Cookie", "X-Api-Key", "Api-Key", "X-Auth-Token",
        "X-Amz-Security-Token", "Authentication-Info", "Private-Token", "x-goog-api-key", "Cf-Access-Jwt-Assertion",
        "X-Goog-Iap-Jwt-Assertion", "X-Jwt",
    ]

    private static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [String(describing: value), String(reflecting: value), "\(value)", dumped]
    }

    @Test(.rows("HS-21"), arguments: usual)
    func `secret fields are not shown by any of the ways to print`(name: String) {
        var fields: Fields = ["Accept": "text/plain"]
        fields.append(name: name, value: "hunter2")
        let head = RequestHead(
            method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/", fields: fields)
        let response = ResponseHead(status: 200, fields: fields)
        let error = NetworkError(.invalidResponse, "no", response: response, body: "hunter2")
        let prepared = PreparedFields(fields, lines: Array("\(name): hunter2\r\n".utf8))
        for value in [fields, [fields], head, response, error, prepared] as [Any] {
            for text in Self.texts(of: value) {
                #expect(!text.contains("hunter2"), "\(text)")
                // The same as numbers.
                #expect(!text.contains("104, 117"), "\(text)")
                #expect(!text.contains("- 117"), "\(text)")
            }
        }
        #expect(fields.description == "Accept: text/plain\n\(name): <redacted>")
    }

    @Test(arguments: [
        #"{"path":"a","link_password":"hunter2"}"#, "a=1&password=hunter2", #"password="hunter2", b=1"#,
        "b=1; sessionid=hunter2", #"{"a":[{"token":"hunter2"}]}"#, #"{"name":"password","value":"hunter2"}"#,
        #"[{"key" : "api_key", "value":"hunter2"}]"#, #"{"value":"hunter2","name":"password"}"#,
        "<password>hunter2</password>", "<key>password</key><string>hunter2</string>",
        #"<input value="hunter2" name="token">"#, #"form-data; name="password" hunter2"#,
        "%7B%22name%22%3A%22password%22%2C%22value%22%3A%22hunter2%22%7D", "a=%3Cpassword%3Ehunter2%3C/password%3E",
    ])
    func `a field whose value has a pair with a secret is not shown whole, nor kept`(value: String) {
        let fields: Fields = ["X-Arg": value]
        #expect(!fields.description.contains("hunter2") && fields.description.contains("X-Arg: "))
        #expect(fields.withoutSecrets().isEmpty)
    }

    @Test(arguments: [
        "a=1&b=2", #"{"path":"a"}"#, "text/html; q=0.9", "timeout=5, max=100", #"W/"abc=""#, #"no-cache="Set-Cookie""#,
        "<a/token>; rel=next",
    ])
    func `a field whose value has other pairs is shown and kept`(value: String) {
        let fields: Fields = ["X-Arg": value]
        #expect(fields.description == "X-Arg: \(value)" && fields.withoutSecrets() == fields)
    }

    @Test func `a printed head shows no secret of its query, and no secret of a URL in a field`() {
        let head = RequestHead(
            method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/a?token=hunter2&page=2",
            fields: ["Referer": "https://b.test/?api_key=hunter2"])
        for text in Self.texts(of: head) {
            #expect(!text.contains("hunter2"), "\(text)")
            #expect(text.contains("page=2"), "\(text)")
        }
        #expect(head.description == "GET http://a.test/a?token=***&page=2\nReferer: https://b.test/?api_key=***")
    }

    @Test(arguments: ["X-Acme-Token", "X-Hub-Signature", "My-Password", "X-Tenant"])
    func `a field whose name looks like a secret's is not shown, and nothing else changes for it`(name: String) {
        let names: HTTP.SecretFields = ["X-Tenant"]
        let fields: Fields = [name: "hunter2"]
        #expect(fields.shown(hiding: names).map(\.value) == ["<redacted>"])
        #expect(names.contains(name) == (name == "X-Tenant"))
    }

    @Test(
        arguments: [
            ("WWW-Authenticate", #"Basic realm="a""#, nil),
            ("Proxy-Authenticate", #"Digest realm="a", nonce="n""#, nil),
            ("Idempotency-Key", "1", nil), ("Accept", "text/html;q=1, a/*", nil),
            ("Location", "/a?password=a,b;c&page=2#d", "/a?password=***&page=2#d"),
            ("Location", "http://u:p@w@a.test/@me?q=1", "http://***@a.test/@me?q=1"),
            ("Location", "http://u:p/w@a.test/", "http://***@a.test/"),
            ("Location", "http://a.test:8080/@me", nil), ("Location", "http://[::1]/@me", nil),
            ("Referer", "//u:p@a.test/?token=a;b", "//***@a.test/?token=***"),
            ("Refresh", "5; url=http://u:p@a.test/?%70assword=a;b", "5; url=http://***@a.test/?%70assword=***"),
            (
                "Link", "<http://u:p@a.test/?token=a,b>; rel=next, <http://v:w@b.test/>; rel=prev",
                "<http://***@a.test/?token=***>; rel=next, <http://***@b.test/>; rel=prev"
            ),
            ("X-Upstream", "http://u:p@a.test/?sig=a,b", "http://***@a.test/?sig=***"),
            ("WWW-Authenticate", #"Bearer uri="https://u:p@a.test/""#, #"Bearer uri="https://***@a.test/""#),
        ] as [(String, String, String?)])
    func `a field is shown without the secrets of the URLs in it`(name: String, value: String, shown: String?) {
        #expect(([name: value] as Fields).shown().map(\.value) == [shown ?? value])
    }

    @Test(
        arguments: [
            ("password=a,b;c}d]<e&page=2", .form, "password=***&page=2"), ("password=a b,c", .link, "password=***"),
            ("%70assw%6Frd=a&page=2", .form, "%70assw%6Frd=***&page=2"),
            ("/a?password=a?b,c&page=2#top", .link, "/a?password=***&page=2#top"),
            (#"{"password":1,"a":2}"#, .link, #"{"password":***,"a":2}"#),
            (#"{"url":"http:\/\/u:p@a.test\/"}"#, .link, #"{"url":"http:\/\/***@a.test\/"}"#),
        ] as [(String, SecretText.Kind, String)])
    func `a value without quotes is hidden as far as its format takes it`(
        text: String, kind: SecretText.Kind, shown: String
    ) {
        #expect(SecretText.masked(text, as: kind) == shown)
    }

    @Test(arguments: [
        "client_assertion", "assertion", "SAMLResponse", "code_verifier", "device_code", "refresh", "refresh_token",
        "access",
    ])
    func `what takes the place of a token is hidden like one`(name: String) {
        #expect(HTTP.SecretFields.usual.hides(name))
        #expect(SecretText.masked("\(name)=hunter2", as: .form) == "\(name)=***")
    }

    @Test(arguments: [
        (#"{"password hash":"x","a":1}"#, #"{"password hash":"***","a":1}"#),
        (#"{"token.value" : 1}"#, #"{"token.value" : ***}"#), (#"{"auth/x":"y"}"#, #"{"auth/x":"***"}"#),
        (#"{"a":"a token of b"}"#, #"{"a":"a token of b"}"#),
        ("see https://auth.test:80/a", "see https://auth.test:80/a"),
    ])
    func `a key of JSON is secret if a word of it is`(text: String, shown: String) {
        #expect(SecretText.masked(text, as: .link) == shown)
    }

    @Test(arguments: [
        ("tokens[]=x&a=1", "tokens[]=***&a=1"), ("password[0][a]=x&a=1", "password[0][a]=***&a=1"),
        ("user[password]=x&a=1", "user[password]=***&a=1"), ("user%5Bpin%5D=x&a=1", "user%5Bpin%5D=***&a=1"),
        ("pass%5B%5D=x", "pass%5B%5D=***"), ("credentials.x=y&a=1", "credentials.x=***&a=1"),
        ("a=auth.test&b=1", "a=auth.test&b=1"), ("tokens[1]&a=1", "tokens[1]&a=1"), ("pages[]=1", "pages[]=1"),
    ])
    func `what follows a secret word in a name of a form is part of the name`(text: String, shown: String) {
        #expect(SecretText.masked(text, as: .form) == shown)
    }

    @Test(arguments: [
        (#"a=1, {"name":"password","value":"x"}"#, "a=1, ***"), (#"{"value":"x","meta":"{","name":"token"}y"#, "***"),
        ("<input type=hidden value=x name=token>y", "***"), ("a <db.password>x</db.password>", "a ***"),
        ("<wsse:Password Type=\"t\">x</wsse:Password>", "***"), ("<key>password</key><data>x</data>", "***"),
        (#"{"note":"a token","name":"ada"}"#, #"{"note":"a token","name":"ada"}"#),
        ("<a>token b</a>", "<a>token b</a>"), ("<https://auth.test/x>", "<https://auth.test/x>"),
    ])
    func `a secret element, or a name that is a value, hides all from the first bracket on`(
        text: String, shown: String
    ) {
        #expect(SecretText.masked(text, as: .form) == shown)
    }

    @Test(arguments: [
        ("token", true), ("api_key", true), ("accessToken", true), ("X-Auth", true), ("sig", true), ("code", true),
        ("ticket", true), ("TIC-KET", true), ("page", false), ("q", false), ("signal", false), ("pine", false),
    ])
    func `one list says which values of a query, a form or JSON are hidden`(name: String, isHidden: Bool) {
        let names: HTTP.SecretFields = ["Ticket"]
        #expect(names.hides(name) == isHidden)
        let more = name.lowercased().filter { $0 != "-" } == "ticket"
        #expect(HTTP.SecretFields.usual.hides(name) == (isHidden && !more))
        #expect((SecretText.masked("\(name)=hunter2", as: .form, hiding: names) == "\(name)=***") == isHidden)
    }

    /// A name for each sign, word and name on the list, and one of a session's own.
    private static let listed =
        HTTP.SecretFields.names.sorted() + HTTP.SecretFields.words + ["X-Tenant", String(repeating: "a", count: 101)]
        + HTTP.SecretFields.signs.flatMap { ["X-\($0)", "X-Own\($0)ing"] }

    @Test(arguments: listed) func `whatever is printed as redacted may be in no file, and counts as a secret`(
        name: String
    ) {
        let names: HTTP.SecretFields = ["X-Tenant"]
        let fields: Fields = [name: "hunter2", "Accept": "a/b"]
        let isPrinted = fields.shown(hiding: names)[0].value == "hunter2"
        // Its value is none in a head.
        #expect(isPrinted == (name == "refresh"))
        #expect(
            names.mayContain(name) && fields.holdsSecret(name, names) && fields.holdsSecret(name.uppercased(), names))
        #expect(fields.withoutSecrets(names) == ["Accept": "a/b"])
    }

    @Test(arguments: [
        ("X-Callback", "https://h.test/?token=hunter2"), ("Referer", "http://u:hunter2@a.test/"),
        ("X-Next", "/a?to=%2Fb%3Fticket%3Dhunter2"), ("Link", "</a?sig=hunter2>; rel=next"),
    ])
    func `a field whose value is not printed whole may be in no file, and counts as a secret`(
        name: String, value: String
    ) {
        let fields: Fields = [name: value, "Accept": "a/b"]
        #expect(!fields.shown(hiding: ["ticket"])[0].value.contains("hunter2"))
        #expect(fields.holdsSecret(name.lowercased(), ["ticket"]) && !fields.holdsSecret("accept", ["ticket"]))
        #expect(fields.withoutSecrets(["ticket"]) == ["Accept": "a/b"])
    }

    @Test(arguments: [
        "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Patch", "A-IM", "Alt-Used", "Baggage",
        "Cache-Control", "Connection", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length",
        "Content-Location", "Content-MD5", "Content-Range", "Content-Type", "Content-Digest", "Date", "Depth",
        "Destination", "DNT", "Early-Data", "Expect", "Forwarded", "From", "Host", "HTTP2-Settings", "If-Match",
        "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Keep-Alive", "Max-Forwards", "Origin",
        "Overwrite", "Pragma", "Prefer", "Priority", "Range", "Referer", "Repr-Digest", "Save-Data", "Sec-CH-UA",
        "Sec-CH-UA-Mobile", "Sec-CH-UA-Platform", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site",
        "Sec-Fetch-User", "Sec-GPC", "Slug", "TE", "Timeout", "Traceparent", "Tracestate", "Trailer",
        "Transfer-Encoding", "Upgrade", "Upgrade-Insecure-Requests", "User-Agent", "Via", "Want-Content-Digest",
        "X-Amz-Content-SHA256", "X-Amz-Date", "X-Amzn-Trace-Id", "X-B3-Sampled", "X-B3-SpanId", "X-B3-TraceId",
        "X-Client-Version", "X-Cloud-Trace-Context", "X-Correlation-ID", "X-Forwarded-For", "X-Forwarded-Host",
        "X-Forwarded-Port", "X-Forwarded-Proto", "X-GitHub-Api-Version", "X-HTTP-Method-Override", "X-Platform",
        "X-Real-IP", "X-Request-ID", "X-Requested-With",
    ])
    func `a field that most requests may have is no secret`(name: String) {
        let fields: Fields = [name: "1"]
        #expect(!HTTP.SecretFields.usual.mayContain(name))
        #expect(fields.withoutSecrets() == fields && fields.shown().map(\.value) == ["1"])
    }

    @Test func `secret fields are the usual ones, those of one's own and those appended as secret`() {
        let own: HTTP.SecretFields = ["X-Tenant", "cookie"]
        for name in Self.usual + ["x-tenant", "X-TENANT"] { #expect(own.contains(name), "\(name)") }
        #expect(!HTTP.SecretFields.usual.contains("X-Tenant"))
        #expect(own.more == ["x-tenant"])
        #expect(!own.contains("Accept"))
        #expect(!own.contains("Idempotency-Key"))
        #expect(own.mayContain("X-Session-Thing"))
        #expect(!own.mayContain("Accept"))

        var fields: Fields = ["X-Tenant": "t", "Accept": "a"]
        fields.append(name: "X-Marked", value: "m", sensitive: true)
        #expect(fields.description == "X-Tenant: t\nAccept: a\nX-Marked: <redacted>")
        fields.mark(own)
        #expect(fields.description == "X-Tenant: <redacted>\nAccept: a\nX-Marked: <redacted>")
        #expect(fields["x-tenant"] == "t")
    }

    @Test func `secret fields of a response are marked without its reason being lost`() {
        let bytes = Array("OKX-Tenant: t".utf8)
        let fields = Fields(bytes: bytes, entries: [.init(name: 2..<10, value: 12..<13)])
        var head = ResponseHead(version: .http11, status: 200, fields: fields, reason: 0..<2)
        head.mark(["X-Tenant"])
        #expect(head.fields.description == "X-Tenant: <redacted>")
        #expect(String(head.reason) == "OK")
    }
}
