import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `Request encoder` {
    private static func encode(
        _ method: HTTP.Method, _ target: String, _ fields: Fields = [:], _ framing: RequestFraming = .none,
        origin: HTTP.Origin = HTTP.Origin(scheme: .http, host: "h.example")
    ) throws(WireError) -> String {
        var buffer = Array("before|".utf8)
        let head = RequestHead(method: method, origin: origin, target: target, fields: fields)
        do throws(WireError) {
            try RequestEncoder.encode(head, framing: framing, into: &buffer)
        } catch {
            #expect(String(Bytes(buffer)) == "before|", "a refused request left something behind")
            throw error
        }
        return String(String(Bytes(buffer)).dropFirst(7))
    }

    static let written: [(HTTP.Method, String, Fields, RequestFraming, String)] = [
        (.get, "/", [:], .none, "GET / HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        (
            .get, "/a?b=%20|{}", ["Accept": "*/*", "X": "", "accept": " \té\t "], .none,
            "GET /a?b=%20|{} HTTP/1.1\r\nHost: h.example\r\nAccept: */*\r\nX: \r\naccept: é\r\n\r\n"
        ),
        (.get, "/", [:], .length(0), "GET / HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        (.head, "/", [:], .length(0), "HEAD / HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        (.delete, "/", [:], .length(0), "DELETE / HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        (.delete, "/", [:], .length(5), "DELETE / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 5\r\n\r\n"),
        (.options, "/", [:], .length(0), "OPTIONS / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 0\r\n\r\n"),
        (.get, "/", [:], .length(7), "GET / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 7\r\n\r\n"),
        (.post, "/", [:], .none, "POST / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 0\r\n\r\n"),
        (.put, "/", [:], .none, "PUT / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 0\r\n\r\n"),
        (.query, "/", [:], .none, "QUERY / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 0\r\n\r\n"),
        (.query, "/", [:], .length(2), "QUERY / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 2\r\n\r\n"),
        (.patch, "/", [:], .none, "PATCH / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 0\r\n\r\n"),
        (.delete, "/", [:], .none, "DELETE / HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        (
            .delete, "/", ["Content-Length": "0"], .none,
            "DELETE / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 0\r\n\r\n"
        ),
        (
            .post, "/", [:], .length(.max),
            "POST / HTTP/1.1\r\nHost: h.example\r\nContent-Length: 9223372036854775807\r\n\r\n"
        ),
        (
            .post, "/", ["content-length": "5", "A": "b", "Content-Length": " 5"], .length(5),
            "POST / HTTP/1.1\r\nHost: h.example\r\nA: b\r\nContent-Length: 5\r\n\r\n"
        ),
        (.post, "/", [:], .chunked, "POST / HTTP/1.1\r\nHost: h.example\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (
            .post, "/", ["transfer-encoding": "Chunked", "A": "b"], .chunked,
            "POST / HTTP/1.1\r\nHost: h.example\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n"
        ),
        (
            .get, "/", ["A": "b", "hOST": "other:81", "Connection": "close"], .none,
            "GET / HTTP/1.1\r\nHost: other:81\r\nA: b\r\nConnection: close\r\n\r\n"
        ),
        (.get, "/", ["Host": "[::1]:8080"], .none, "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"),
        (.options, "*", [:], .none, "OPTIONS * HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        (.get, "http://p:1/x", [:], .none, "GET http://p:1/x HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        (.get, "https://[::1]?q", [:], .none, "GET https://[::1]?q HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        (.connect, "p.example:443", [:], .none, "CONNECT p.example:443 HTTP/1.1\r\nHost: p.example:443\r\n\r\n"),
        (.connect, "[::1]:443", [:], .length(0), "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n"),
        (.trace, "/", [:], .length(0), "TRACE / HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        ("M-SEARCH!", "/", [:], .none, "M-SEARCH! / HTTP/1.1\r\nHost: h.example\r\n\r\n"),
        ("get", "/", [:], .none, "get / HTTP/1.1\r\nHost: h.example\r\n\r\n"),
    ]

    @Test(
        .rules(
            "9110-2.5-1", "9110-2.5-2", "9110-5.6.3-1", "9110-7.2-1", "9110-7.2-2", "9110-8.6-2", "9110-9.1-1",
            "9112-2.1-1", "9112-2.2-4", "9112-2.3-2", "9112-3-1", "9112-3.2-2", "9112-3.2.1-1", "9112-3.2.4-1",
            "9112-5-2", "9112-6-1", "9112-6.2-1"), arguments: written)
    func `the request encoder writes the head`(
        method: HTTP.Method, target: String, fields: Fields, framing: RequestFraming, expected: String
    ) throws {
        #expect(try Self.encode(method, target, fields, framing) == expected)
    }

    @Test(
        .rules("9110-7.2-3", "9112-3.2-3", "6455-4.1-9"),
        arguments: [
            (HTTP.Origin(scheme: .http, host: "::1", port: 8080), "[::1]:8080"),
            (HTTP.Origin(scheme: .https, host: "a.example", port: 443), "a.example"),
            (HTTP.Origin(scheme: .http, host: "a.example", port: 443), "a.example:443"),
            (HTTP.Origin(scheme: .http, host: "127.0.0.1"), "127.0.0.1"),
        ])
    func `the request encoder takes Host from the origin`(origin: HTTP.Origin, expected: String) throws {
        #expect(try Self.encode(.get, "/", origin: origin) == "GET / HTTP/1.1\r\nHost: \(expected)\r\n\r\n")
    }

    @Test(
        .rows("HS-13"), .rules("9110-2.2-1", "9112-3-2"),
        arguments: ["", "G T", "GET\r\n", "GE\0T", "GÉT", "GET:", "(GET)"])
    func `a method that is no token is refused`(method: String) {
        #expect(throws: WireError.invalidMethod) { try Self.encode(HTTP.Method(method), "/") }
    }

    static let targets: [(HTTP.Method, String, WireError)] = [
        (.get, "", .invalidTarget),
        (.get, "/a b", .invalidTarget),
        (.get, "/a\tb", .invalidTarget),
        (.get, "/a\r\nX: y", .invalidTarget),
        (.get, "/a\nb", .invalidTarget),
        (.get, "/a\0b", .invalidTarget),
        (.get, "/a\u{7F}", .invalidTarget),
        (.get, "/é", .invalidTarget),
        (.get, "/a#b", .invalidTarget),
        (.get, "a", .targetUnfitForMethod),
        (.get, "?a", .targetUnfitForMethod),
        (.get, "*", .targetUnfitForMethod),
        (.options, "**", .targetUnfitForMethod),
        (.get, "a.example:443", .targetUnfitForMethod),
        (.get, "http:/a", .targetUnfitForMethod),
        (.get, "http://", .targetUnfitForMethod),
        (.get, "http:///a", .targetUnfitForMethod),
        (.get, "://a", .targetUnfitForMethod),
        (.get, "1http://a", .targetUnfitForMethod),
        (.get, "http://user:password@a/", .targetUnfitForMethod),
        (.get, "http://user@a/", .targetUnfitForMethod),
        (.connect, "/", .targetUnfitForMethod),
        (.connect, "a.example", .targetUnfitForMethod),
        (.connect, "a.example:", .targetUnfitForMethod),
        (.connect, "a.example:65536", .targetUnfitForMethod),
        (.connect, "http://a.example:443", .targetUnfitForMethod),
        (.connect, "u@a.example:443", .targetUnfitForMethod),
        (.connect, "*", .targetUnfitForMethod),
    ]

    @Test(
        .rules("9110-2.2-1", "9110-4.2.4-1", "9110-4.2.5-1", "9112-2.2-2", "9112-3.2-1", "9112-3.2.3-1"),
        arguments: targets)
    func `a target that cannot be sent is refused`(method: HTTP.Method, target: String, expected: WireError) {
        #expect(throws: expected) { try Self.encode(method, target) }
    }

    static let fields: [(Fields, RequestFraming, WireError)] = [
        (["": "b"], .none, .invalidRequestFieldName(beginning: "")),
        (["A b": "c"], .none, .invalidRequestFieldName(beginning: "A")),
        (["A:": "c"], .none, .invalidRequestFieldName(beginning: "A")),
        (["A\r\nB": "c"], .none, .invalidRequestFieldName(beginning: "A")),
        (["Ä": "c"], .none, .invalidRequestFieldName(beginning: "")),
        (["Authorization: Bearer hush": "c"], .none, .invalidRequestFieldName(beginning: "Authorization")),
        ([String(repeating: "a", count: 65_536): "c"], .none, .invalidRequestFieldName(beginning: "")),
        (["A": "b\r\nC: d"], .none, .invalidRequestFieldValue(name: "A")),
        (["A": "b\rc"], .none, .invalidRequestFieldValue(name: "A")),
        (["A": "b\nc"], .none, .invalidRequestFieldValue(name: "A")),
        (["A": "b\0"], .none, .invalidRequestFieldValue(name: "A")),
        (["A": "b\u{7F}"], .none, .invalidRequestFieldValue(name: "A")),
        (["A": "\u{1}"], .none, .invalidRequestFieldValue(name: "A")),
        (["B": "c", "A": "b\r\n"], .none, .invalidRequestFieldValue(name: "A")),
        (["Host": "a", "host": "a"], .none, .repeatedHost),
        (["Host": ""], .none, .invalidHost),
        (["Host": "a b"], .none, .invalidHost),
        (["Host": "user@a"], .none, .invalidHost),
        (["Host": "a/b"], .none, .invalidHost),
        (["Host": "a:b"], .none, .invalidHost),
        (["Host": "a:70000"], .none, .invalidHost),
        (["Host": "[::1"], .none, .invalidHost),
        (["Host": "[]"], .none, .invalidHost),
        (["Host": "[::1]x"], .none, .invalidHost),
        (["Host": "::1"], .none, .invalidHost),
        (["Host": "é"], .none, .invalidHost),
        (["Host": "a|b"], .none, .invalidHost),
        (["Content-Length": "5"], .none, .contentLengthContradictsBody),
        (["Content-Length": "5"], .length(6), .contentLengthContradictsBody),
        (["Content-Length": "x"], .length(0), .contentLengthContradictsBody),
        (["Content-Length": "5", "content-length": "6"], .length(5), .contentLengthContradictsBody),
        (["Content-Length": "5, 5"], .length(5), .contentLengthContradictsBody),
        (["Content-Length": "0"], .chunked, .contentLengthContradictsBody),
        (["Transfer-Encoding": "chunked"], .none, .transferEncodingContradictsBody),
        (["Transfer-Encoding": "chunked"], .length(5), .transferEncodingContradictsBody),
        (["Transfer-Encoding": "gzip, chunked"], .chunked, .transferEncodingContradictsBody),
        (["Connection": "upgrade"], .none, .unsupportedConnectionOption),
        (["Connection": "close, X"], .none, .unsupportedConnectionOption),
        (["TE": "chunked"], .none, .unsupportedConnectionOption),
        (["TE": "trailers, gzip;q=0.5"], .none, .unsupportedConnectionOption),
        (["Upgrade": "h2c"], .none, .unsupportedConnectionOption),
        (["upgrade": "h2c", "Connection": "close"], .none, .unsupportedConnectionOption),
        ([:], .length(-1), .negativeLength),
    ]

    @Test(
        .rows("RQ-49"),
        .rules(
            "9110-2.2-1", "9110-5.3-1", "9110-5.5-1", "9110-7.6.1-1", "9110-7.8-1", "9110-8.6-3", "9112-2.2-2",
            "9112-5-1", "9112-5.2-1", "9112-6.1-2", "9112-6.1-3", "9112-6.2-1", "9112-7.4-1"), arguments: fields)
    func `fields that cannot be sent are refused`(fields: Fields, framing: RequestFraming, expected: WireError) {
        #expect(throws: expected) { try Self.encode(.post, "/", fields, framing) }
    }

    @Test(
        .rules("9110-7.6.1-2", "9110-7.8-1"),
        arguments: [("upgrade", true), ("Upgrade, keep-alive", true), ("upgrades", false), ("upgrade, X", false)])
    func `a request may offer another protocol only if its sender can take one`(option: String, isValid: Bool) {
        var buffer: [UInt8] = []
        let fields = Fields(["Connection": option, "Upgrade": "foo"])
        let head = RequestHead(
            method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/", fields: fields)
        #expect(throws: WireError.unsupportedConnectionOption) {
            try RequestEncoder.encode(head, framing: .none, into: &buffer)
        }
        let outcome = Result { () throws(WireError) in
            try RequestEncoder.encode(head, framing: .none, into: &buffer, mayUpgrade: true)
        }
        #expect(outcome == (isValid ? .success(RequestTraits()) : .failure(.unsupportedConnectionOption)))
        #expect(String(decoding: buffer, as: UTF8.self).contains("Connection: \(option)\r\n") == isValid)
    }

    /// The fields, and the lines that are sent.
    static let offers: [(Fields, String)] = [
        (["TE": "trailers"], "TE: trailers\r\nConnection: TE\r\n"),
        (["te": "", "A": "b"], "te: \r\nA: b\r\nConnection: TE\r\n"),
        (["TE": "Trailers", "Connection": "close"], "TE: Trailers\r\nConnection: close\r\nConnection: TE\r\n"),
        (["Connection": "close, te", "TE": "trailers"], "Connection: close, te\r\nTE: trailers\r\n"),
        (["Connection": "TE"], "Connection: TE\r\n"),
    ]

    @Test(.rules("9110-10.1.4-1", "9112-7.4-2"), arguments: offers)
    func `a field TE is named in Connection, once`(fields: Fields, lines: String) throws {
        #expect(try Self.encode(.get, "/", fields) == "GET / HTTP/1.1\r\nHost: h.example\r\n\(lines)\r\n")
        let chunked = "GET / HTTP/1.1\r\nHost: h.example\r\n\(lines)Transfer-Encoding: chunked\r\n\r\n"
        #expect(try Self.encode(.get, "/", fields, .chunked) == chunked)
        let long = "GET / HTTP/1.1\r\nHost: h.example\r\n\(lines)Content-Length: \(Int.max)\r\n\r\n"
        #expect(try Self.encode(.get, "/", fields, .length(.max)) == long)
    }

    @Test(
        .rules("9110-9.3.8-2"),
        arguments: [["Authorization": "x"], ["A": "b", "cookie": "x"], ["Proxy-Authorization": "x"]] as [Fields])
    func `a TRACE with a secret is refused`(fields: Fields) throws {
        #expect(throws: WireError.secretInTrace) { try Self.encode(.trace, "/", fields) }
        let prepared = try #require(try RequestEncoder.prepare(fields))
        let origin = HTTP.Origin(scheme: .http, host: "a.test")
        var buffer: [UInt8] = []
        #expect(throws: WireError.secretInTrace) {
            let head = RequestHead(method: .trace, origin: origin, target: "/", prepared: prepared)
            try RequestEncoder.encode(head, framing: .none, into: &buffer)
        }
        #expect(try Self.encode(.trace, "/", ["Max-Forwards": "0"]).hasSuffix("Max-Forwards: 0\r\n\r\n"))
    }

    @Test func `an origin whose host is none is refused`() {
        for host in ["", "a b", "user@a", "a\r\nX: y", "a/b"] {
            let origin = HTTP.Origin(scheme: .http, host: host)
            #expect(throws: WireError.invalidHost) { try Self.encode(.get, "/", origin: origin) }
        }
    }

    @Test(.rules("9110-9.3.6-4", "9110-9.3.8-1")) func `a body is refused where the method has none`() {
        for framing in [RequestFraming.length(1), .chunked] {
            #expect(throws: WireError.bodyNotAllowed) { try Self.encode(.connect, "a:1", [:], framing) }
            #expect(throws: WireError.bodyNotAllowed) { try Self.encode(.trace, "/", [:], framing) }
        }
        #expect(throws: WireError.contentLengthContradictsBody) {
            try Self.encode(.trace, "/", ["Content-Length": "0"])
        }
    }

    static let asked: [(Fields, RequestTraits)] = [
        (["Connection": "close"], RequestTraits(asksToClose: true)),
        (["Connection": "keep-alive", "connection": "Close"], RequestTraits(asksToClose: true)),
        (["Connection": "keep-alive"], RequestTraits()),
        (["Expect": "100-Continue"], RequestTraits(expectsContinue: true)),
        ([:], RequestTraits()),
    ]

    @Test(.rules("9112-9.6-1"), arguments: asked)
    func `the request encoder tells what the fields ask of the connection`(fields: Fields, expected: RequestTraits)
        throws
    {
        var buffer: [UInt8] = []
        let head = RequestHead(
            method: .get, origin: HTTP.Origin(scheme: .http, host: "a"), target: "/", fields: fields)
        #expect(try RequestEncoder.encode(head, framing: .none, into: &buffer) == expected)
    }

    @Test func `the request encoder takes a head larger than the stack allocation`() throws {
        let value = String(repeating: "v", count: 100_000)
        let expected = "GET /\(value) HTTP/1.1\r\nHost: h.example\r\nA: \(value)\r\n\r\n"
        #expect(try Self.encode(.get, "/\(value)", ["A": value]) == expected)
    }
}
