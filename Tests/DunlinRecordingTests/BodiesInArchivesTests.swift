import Dunlin
import Testing

@testable import DunlinRecording

@Suite(.timeLimit(.minutes(10))) struct `Bodies in an archive` {
    private static let secret = "pl4nted"

    private static func body(
        _ bytes: some Sequence<UInt8>, _ type: String, _ more: HTTP.SecretFields = .usual
    ) -> BodyText {
        BodyText(Array(bytes), isWhole: true, [], type, limit: .max, Redaction(secret: more))
    }

    private static func form(_ name: String) -> String {
        """
        --b\r\nContent-Disposition: form-data; name="first"\r\n\r\none\r
        --b\r\nContent-Disposition: form-data; \(name)\r\n\r\n\(secret)\r
        --b\r\nContent-Disposition: form-data; name="last"; filename="a.txt"\r
        Content-Type: text/plain\r\n\r\ntwo\r\n--b--\r\n
        """
    }

    @Test(arguments: [
        "user[password]", "login.password", "user:password", "my password", "password", "user[pin]", "user.pin",
        "user[ticket]", "ticket", "\(String(repeating: "a", count: 200))[password]",
        "\(String(repeating: "a.", count: 100))password",
    ]) func `a name is judged alike in a form of parts, a form and JSON`(name: String) {
        let names: HTTP.SecretFields = ["ticket"]
        let parts = Self.body(Self.form("name=\"\(name)\"").utf8, "multipart/form-data; boundary=b", names)
        #expect(parts.text?.contains(Self.secret) == false && !parts.isCut)
        #expect(parts.text?.contains("\r\n\r\none\r\n") == true && parts.text?.contains("\r\n\r\ntwo\r\n") == true)
        let pairs = Self.body("a=1&\(name)=\(Self.secret)&b=2".utf8, "application/x-www-form-urlencoded", names)
        #expect(pairs.text == "a=1&\(name)=***&b=2")
        let json = Self.body("{\"\(name)\":\"\(Self.secret)\",\"b\":2}".utf8, "application/json", names)
        #expect(json.text == "{\"\(name)\":\"***\",\"b\":2}")
    }

    @Test(arguments: [
        "name*=utf-8''password", "name*=utf-8''user%5Bpin%5D", "name=a; name=\"password\"", "name=login.password",
        "name*0=pass; name*1=word", "\r\n name=\"password\"", "name=\"a\"\r\nX-Name: password",
    ]) func `however a part's name is written, it is judged`(name: String) {
        let parts = Self.body(Self.form(name).utf8, "Multipart/Form-Data; charset=utf-8; boundary=\"b\"")
        #expect(parts.text?.contains(Self.secret) == false && !parts.isCut)
        #expect(parts.text?.contains("\r\n\r\ntwo\r\n") == true)
    }

    @Test func `what is left out of a form of parts is left out once, and what is within a part, too`() {
        let nested = """
            --b\r\nContent-Type: application/json\r\n\r\n{"token":"\(Self.secret)","n":1}\r
            --b\r\nContent-Type: multipart/mixed; boundary=c\r\nAuthorization: \(Self.secret)\r\n\r
            --c\r\n\r\n\(Self.secret)\r\n--c\r\nContent-Disposition: x; name="password"\r\n\r\n\(Self.secret)\r\n--c--\r
            --b--
            """
        let plain = nested.replacing("\r\n\r\n\(Self.secret)\r\n--c\r\nC", with: "\r\n\r\nC")
        let redaction = Redaction(secret: .usual)
        let type = "multipart/mixed; boundary=b"
        let shown = redaction.body(plain, type)
        #expect(!shown.text.contains(Self.secret) && shown.isWhole)
        #expect(shown.text.contains(#"{"token":"***","n":1}"#))
        #expect(redaction.body(shown.text, type).text == shown.text)
        let whole = redaction.body(Self.form("name=\"a\""), "multipart/form-data; boundary=b")
        #expect(whole.text == Self.form("name=\"a\"") && whole.isWhole)
    }

    @Test func `a form of parts that others may read otherwise is text of another form`() {
        let form = Self.form("name=\"password\"")
        for (text, type) in [
            (form.replacing("\r\n", with: "\n"), "multipart/form-data; boundary=b"),
            (form, "multipart/form-data; boundary=c"), (form, "multipart/form-data"), (form, "text/plain"),
            ("before\r\n" + form, "multipart/form-data; boundary=b"),
            (form + "password: \(Self.secret)", "multipart/form-data; boundary=b"),
            (form.replacing("two", with: "two\n--b\npassword\n\n\(Self.secret)"), "multipart/form-data; boundary=b"),
        ] {
            let shown = Redaction(secret: .usual).body(text, type)
            #expect(!shown.text.contains(Self.secret) && !shown.isWhole, "\(type)")
        }
    }

    @Test(arguments: [
        ("password: abc,pl4nted", "text/plain"), ("user: ada\npassword: |\n  pl4nted\n", "application/yaml"),
        ("id,password\n1,pl4nted\n", "text/csv"), ("machine a login b password pl4nted", "text/plain"),
        ("password: abc;pl4nted", ""), ("a\n\n[db.password]\nvalue = 'pl4nted'", "application/toml"),
        ("<a><b name='user[password]' value='pl4nted'/></a>", "text/html"),
        ("{\"password\": \"pl4nted\"", "application/json"), ("{\"password\":\"pl4nted\"}{}", "application/json-seq"),
        ("{\"password\":\"pl4nted\"} {}", "application/x-www-form-urlencoded"),
        ("a=1\npassword=pl4nted", "application/x-www-form-urlencoded"), ("https://ada:pl4nted@a.test", "text/plain"),
    ]) func `text of another form is left out from the first secret name on`(text: String, type: String) {
        let body = Self.body(text.utf8, type)
        #expect(body.text?.contains(Self.secret) == false && body.isCut)
        let again = Redaction(secret: .usual).body(body.text ?? "", type)
        #expect(again.text == body.text)
    }

    @Test(arguments: ["name", "id", "type", "key", "Field"])
    func `a value whose name is a value beside it is left out`(key: String) {
        let json = Self.body("{\"\(key)\":\"password\",\"value\":\"\(Self.secret)\"}".utf8, "application/json")
        #expect(json.text == "{\"\(key)\":\"\(key == "key" ? "***" : "password")\",\"value\":\"***\"}")
        let form = Self.body("a=1&\(key)=password&value=\(Self.secret)".utf8, "application/x-www-form-urlencoded")
        #expect(form.text == "a=1&\(key)=\(key == "key" ? "***" : "password")&value=***")
        let other = #"{"type":"authors","id":"1","attributes":{"page":2}}"#
        #expect(Self.body(other.utf8, "application/vnd.api+json").text == other)
    }

    @Test(arguments: [
        #"{"password":"pl4nted","password":null}"#, #"{"password":"pl4nted","password":0}"#,
        #"{"a":{"next":"https://ada:pl4nted@a.test","next":1}}"#,
        #"{"https://ada:pl4nted@a.test/":1}"#, #"{"https://a.test/?token=pl4nted":1}"#,
        #"{"tokens":{"https://a.test/?token=pl4nted":1}}"#,
        #"[["password","pl4nted"]]"#, #"{"headers":[["Authorization","Bearer pl4nted"],["A","b"]]}"#,
        #"{"next":"/\\ada:pl4nted@a.test"}"#, #"{"next":"///ada:pl4nted@a.test"}"#,
    ]) func `a value whose key is there twice, a key and a pair are judged, too`(json: String) {
        let body = Self.body(json.utf8, "application/json")
        #expect(body.text?.contains(Self.secret) == false)
        #expect(Redaction(secret: .usual).body(body.text ?? "", "application/json").text == body.text)
    }

    @Test(arguments: [
        #"{"tags":["authentication","swift"]}"#, #"[["a","b","c"],["password","b","c"]]"#, "[]", "[[],[]]",
        #"{"log.name":"auth","message":"one"}"#,
    ]) func `a list that is none of pairs, and a key within another one, name nothing`(json: String) {
        #expect(Self.body(json.utf8, "application/json").text == json)
    }

    @Test(arguments: [
        "fields[0][name]=password&fields[0][value]=pl4nted", "f.0.name=password&f.0.value=pl4nted",
        "f%5B0%5D%5Bname%5D=password&f%5B0%5D%5Bvalue%5D=pl4nted",
    ]) func `a value is known by the innermost name of a form's field`(form: String) {
        let body = Self.body(form.utf8, "application/x-www-form-urlencoded")
        #expect(body.text == form.replacing(Self.secret, with: "***") && !body.isCut)
    }

    private static func part(_ lines: String..., content: String) -> String {
        "--b\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n\(content)\r\n"
    }

    @Test func `a part's head, its coding and the name in another part are judged, too`() {
        let type = "multipart/form-data; boundary=b"
        let named = "Content-Disposition: form-data; name="
        let pair = Self.part(named + "name", content: "password") + Self.part(named + "value", content: Self.secret)
        let coded = Self.part(named + "a", "Content-Transfer-Encoding: Base64", content: Self.secret)
        let link = Self.part(named + "a", "Content-Location: https://a.test/?token=\(Self.secret)", content: "one")
        for (form, isWhole) in [(pair, true), (coded, false), (link, true)] {
            let shown = Redaction(secret: .usual).body(form + "--b--", type)
            #expect(!shown.text.contains(Self.secret) && shown.isWhole == isWhole, "\(form)")
            #expect(Redaction(secret: .usual).body(shown.text, type).text == shown.text)
        }
        let plain = Self.part(named + "a", "Content-Transfer-Encoding: binary", content: "one") + "--b--"
        #expect(Redaction(secret: .usual).body(plain, type).text == plain)
    }

    @Test func `text without a secret name is whole, and JSON is known without its type`() {
        for text in [
            "some text, some text", "Enter your password.", "", String(repeating: "a", count: 1000), "{x}", "a=1&b=2",
        ] {
            let body = Self.body(text.utf8, "text/plain")
            #expect(body.text == text && !body.isCut)
        }
        let json = Self.body(#" {"password":"pl4nted","n":1}"#.utf8, "")
        #expect(json.text == #"{"password":"***","n":1}"# && !json.isCut)
    }

    @Test(arguments: [
        "application/json ; charset=latin1", "application/json", "", "application/yaml", "application/toml",
        "application/json-seq", "application/ecmascript", "application/sql", "message/http", "image/svg+xml",
        "text/plain; charset=iso-8859-1", "multipart/form-data; boundary=b", "application/x-www-form-urlencoded",
    ]) func `bytes that are no UTF-8 are left out unless their type is binary`(type: String) {
        let bytes = Array("{\"password\": \"pl4nted\"} ".utf8) + [0xFC]
        let body = Self.body(bytes, type)
        #expect(body.text == nil && body.isCut && body.comment != nil)
        for binary in ["image/png", "application/octet-stream", "application/x-gzip", "application/vnd.a+zip"] {
            #expect(Self.body(bytes, binary).encoding == "base64")
        }
    }

    @Test(arguments: ["utf-16le", "utf-16", "UTF-7", "shift_jis", "\"utf-32\"", "ebcdic-cp-us"])
    func `text in another encoding is left out, even if its bytes are UTF-8`(charset: String) {
        let json = "{\"password\": \"pl4nted\"}"
        for type in ["application/json; charset=\(charset)", "text/plain ;charset=\(charset)"] {
            #expect(Self.body(json.utf8, type).text == nil)
        }
        let wide: [UInt8] = json.utf8.reduce(into: []) { $0 += [$1, 0] }
        for type in ["application/json; charset=\(charset)", "application/json", "text/plain", ""] {
            #expect(Self.body(wide, type).text == nil && Self.body(wide, type).isCut)
        }
        for charset in ["utf-8", "UTF-8", "us-ascii", "ISO-8859-1", "windows-1252"] {
            #expect(Self.body("{\"a\":1}".utf8, "application/json; charset=\(charset)").text == "{\"a\":1}")
        }
    }
}
