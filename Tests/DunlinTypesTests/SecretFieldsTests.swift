import LedgerRows
import Testing

@testable import DunlinTypes

@Suite struct `Secret fields` {
    static let usual = [
        "Authorization", "proxy-authorization", "COOKIE", "Set-Cookie", "X-Api-Key", "Api-Key", "X-Auth-Token",
        "X-Amz-Security-Token", "Authentication-Info", "Private-Token", "x-goog-api-key",
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

    @Test(arguments: [
        ("token", true), ("api_key", true), ("accessToken", true), ("X-Auth", true), ("sig", true), ("code", true),
        ("ticket", true), ("TIC-KET", true), ("page", false), ("q", false), ("signal", false), ("pine", false),
    ])
    func `one list says which values of a query, a form or JSON are hidden`(name: String, isHidden: Bool) {
        let names: HTTP.SecretFields = ["Ticket"]
        #expect(names.hides(name) == isHidden)
        let more = name.lowercased().filter { $0 != "-" } == "ticket"
        #expect(HTTP.SecretFields.usual.hides(name) == (isHidden && !more))
        #expect((SecretText.masked("\(name)=hunter2", hiding: names) == "\(name)=***") == isHidden)
    }

    @Test func `secret fields are the usual ones, those of one's own and those appended as secret`() {
        let own: HTTP.SecretFields = ["X-Tenant-Key", "cookie"]
        for name in Self.usual + ["x-tenant-key", "X-TENANT-KEY"] { #expect(own.contains(name), "\(name)") }
        #expect(!HTTP.SecretFields.usual.contains("X-Tenant-Key"))
        #expect(own.more == ["x-tenant-key"])
        #expect(!own.contains("Accept"))
        #expect(!own.contains("Idempotency-Key"))
        #expect(own.mayContain("X-Session-Thing"))
        #expect(!own.mayContain("Accept"))

        var fields: Fields = ["X-Tenant-Key": "t", "Accept": "a"]
        fields.append(name: "X-Marked", value: "m", sensitive: true)
        #expect(fields.description == "X-Tenant-Key: t\nAccept: a\nX-Marked: <redacted>")
        fields.mark(own)
        #expect(fields.description == "X-Tenant-Key: <redacted>\nAccept: a\nX-Marked: <redacted>")
        #expect(fields["x-tenant-key"] == "t")
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
