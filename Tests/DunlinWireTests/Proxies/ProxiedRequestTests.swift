import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `Proxied requests` {
    private static func written(_ head: RequestHead) throws -> String {
        var buffer: [UInt8] = []
        try RequestEncoder.encode(head, framing: .none, into: &buffer)
        return String(Bytes(buffer))
    }

    static let tunnels: [(HTTP.Origin, String?, Fields, String)] = [
        (
            HTTP.Origin(scheme: .https, host: "a.test"), nil, [:],
            "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"
        ),
        (
            HTTP.Origin(scheme: .https, host: "2001:db8::1", port: 8443), nil, [:],
            "CONNECT [2001:db8::1]:8443 HTTP/1.1\r\nHost: [2001:db8::1]:8443\r\n\r\n"
        ),
        (
            HTTP.Origin(scheme: .http, host: "a.test"), "Basic dTpw",
            ["X-Tenant": "t", "proxy-authorization": "other"],
            "CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\nX-Tenant: t\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
        ),
    ]

    @Test(.rules("9110-9.3.6-1", "9112-3.2.3-1"), arguments: tunnels)
    func `CONNECT names host and port, and has the proxy's own fields`(
        origin: HTTP.Origin, authorization: String?, fields: Fields, expected: String
    ) throws {
        let head = ProxiedRequest.connect(to: origin, authorization: authorization, fields: fields)
        #expect(try Self.written(head) == expected)
        #expect(!"\(head.fields)".contains("dTpw"))
    }

    @Test(arguments: ["a.test/b", "a.test\r\nX: y", "u@a.test", ""])
    func `CONNECT is refused for an invalid host`(host: String) {
        let head = ProxiedRequest.connect(to: HTTP.Origin(scheme: .https, host: host))
        #expect(throws: WireError.self) { try Self.written(head) }
    }

    private static let origin = HTTP.Origin(scheme: .http, host: "a.test", port: 8080)

    static let absolutes: [(RequestHead, String?, String)] = [
        (
            RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/"), nil,
            "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"
        ),
        (
            RequestHead(method: .get, origin: origin, target: "/b?c=http://d/", fields: ["Accept": "*/*"]), "Basic x",
            "GET http://a.test:8080/b?c=http://d/ HTTP/1.1\r\nHost: a.test:8080\r\nAccept: */*\r\n"
                + "Proxy-Authorization: Basic x\r\n\r\n"
        ),
        (
            RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "::1"), target: "/"), nil,
            "GET http://[::1]/ HTTP/1.1\r\nHost: [::1]\r\n\r\n"
        ),
        (
            RequestHead(method: .options, origin: origin, target: "*"), nil,
            "OPTIONS http://a.test:8080 HTTP/1.1\r\nHost: a.test:8080\r\n\r\n"
        ),
        // Two slashes are a path, and no other authority.
        (
            RequestHead(method: .get, origin: origin, target: "//evil.test/"), nil,
            "GET http://a.test:8080//evil.test/ HTTP/1.1\r\nHost: a.test:8080\r\n\r\n"
        ),
        (
            RequestHead(
                method: .get, origin: origin, target: "/",
                fields: ["Proxy-Authorization": "mine", "PROXY-CONNECTION": "keep-alive", "Authorization": "A"]),
            "Basic x",
            "GET http://a.test:8080/ HTTP/1.1\r\nHost: a.test:8080\r\nAuthorization: A\r\n"
                + "Proxy-Authorization: Basic x\r\n\r\n"
        ),
        (
            RequestHead(method: .get, origin: origin, target: "/", fields: ["Proxy-Authorization": "mine"]), nil,
            "GET http://a.test:8080/ HTTP/1.1\r\nHost: a.test:8080\r\n\r\n"
        ),
        (
            RequestHead(method: .get, origin: origin, target: "/", fields: ["host": "A.test:8080"]), nil,
            "GET http://a.test:8080/ HTTP/1.1\r\nHost: A.test:8080\r\n\r\n"
        ),
    ]

    @Test(.rules("9112-3.2.2-1", "9112-3.2.2-2"), arguments: absolutes)
    func `a request in clear text goes in absolute form`(
        head: RequestHead, authorization: String?, expected: String
    ) throws {
        #expect(try Self.written(ProxiedRequest.absolute(head, authorization: authorization)) == expected)
    }

    static let refused: [(HTTP.Origin, HTTP.Method, String, Fields, ProxiedRequest.Problem)] = [
        (HTTP.Origin(scheme: .https, host: "a.test"), .get, "/", [:], .notClearText),
        (origin, .get, "/", ["Host": "b.test"], .hostOfAnother("b.test", authority: "a.test:8080")),
        (origin, .get, "/", ["Host": "a.test"], .hostOfAnother("a.test", authority: "a.test:8080")),
        (
            origin, .get, "/", ["Host": "a.test:8080", "host": "b.test"],
            .hostOfAnother("b.test", authority: "a.test:8080")
        ),
        (origin, .get, "*", [:], .invalidTarget), (origin, .get, "", [:], .invalidTarget),
        (origin, .get, "http://b.test/", [:], .invalidTarget), (origin, .connect, "a.test:80", [:], .invalidTarget),
    ]

    @Test(arguments: refused)
    func `a request that would go elsewhere than asked is refused`(
        origin: HTTP.Origin, method: HTTP.Method, target: String, fields: Fields, problem: ProxiedRequest.Problem
    ) {
        let head = RequestHead(method: method, origin: origin, target: target, fields: fields)
        #expect(throws: problem) { try ProxiedRequest.absolute(head) }
    }

    @Test func `fields that were prepared stay so where nothing changes`() throws {
        let prepared = try #require(try RequestEncoder.prepare(["Accept": "*/*"]))
        let head = RequestHead(method: .get, origin: Self.origin, target: "/", prepared: prepared)
        #expect(try ProxiedRequest.absolute(head).prepared === prepared)
        #expect(try ProxiedRequest.absolute(head, authorization: "Basic x").prepared == nil)
    }

    @Test(.rules("9110-11.7.2-1")) func `what goes to an origin has nothing of the proxy's`() {
        let fields: Fields = ["Proxy-authorization": "secret", "A": "b", "Proxy-Connection": "close", "Cookie": "c"]
        #expect(ProxiedRequest.forOrigin(fields) == ["A": "b", "Cookie": "c"])
    }
}
