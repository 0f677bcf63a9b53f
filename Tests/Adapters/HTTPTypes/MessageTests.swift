import Dunlin
import DunlinHTTPTypes
import HTTPTypes
import Testing

/// What `path` and `authority` may contain, and what fields may say beside them: rows of what goes and what is refused.
@Suite struct `Requests, from and to HTTPRequest` {
    static func request(
        _ method: HTTPRequest.Method = .get, _ scheme: String? = "https", _ authority: String? = "api.test",
        _ path: String? = "/a", _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
    }

    @Test func `are the same there and back`() throws {
        let theirs = try Self.request(
            #require(.init("PROPFIND")), "https", "api.test:8443", "/a%2Fb//c?q=1&r=%20?",
            HTTPFields(["X-A": "1", "x-a": "2"] as Fields))
        let ours = try RequestHead(theirs)
        #expect(ours.method == "PROPFIND")
        #expect(ours.origin == HTTP.Origin(scheme: .https, host: "api.test", port: 8443))
        #expect(ours.target == "/a%2Fb//c?q=1&r=%20?")
        #expect(ours.fields == ["X-A": "1", "x-a": "2"])
        #expect(try HTTPRequest(ours) == theirs)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        /// A part of the error; nil if it goes.
        let refusal: String?
        var testDescription: String { text.debugDescription }
    }

    static let paths: [Row] = [
        .init(text: "/", refusal: nil),
        .init(text: "/a/b.c/...;x=1?y=/../?z", refusal: nil),
        .init(text: "/a//b", refusal: nil),
        .init(text: "/a%20b%0D%0A", refusal: nil),
        .init(text: "/a:b@c!$&'()*+,;=-._~", refusal: nil),
        .init(text: "", refusal: "is empty"),
        .init(text: "a", refusal: "does not begin with a slash"),
        .init(text: "?a", refusal: "does not begin with a slash"),
        .init(text: "*", refusal: "does not begin with a slash"),
        .init(text: "http://evil.test/", refusal: "is a whole URL"),
        .init(text: "/a b", refusal: "has a blank"),
        .init(text: "/ HTTP/1.1\r\nEvil: 1", refusal: "has a blank"),
        .init(text: "/a\r\nEvil:1", refusal: "has a"),
        .init(text: "/a\nb", refusal: "has a"),
        .init(text: "/a\tb", refusal: "has a control character"),
        .init(text: "/a\0b", refusal: "has a"),
        .init(text: "/a#b", refusal: "has a fragment"),
        .init(text: "/a?b#c", refusal: "has a fragment"),
        .init(text: "/a%2", refusal: "has a %"),
        .init(text: "/a%zz", refusal: "has a %"),
        .init(text: "/é", refusal: "must be percent-encoded"),
        .init(text: "/a\\b", refusal: "must be percent-encoded"),
        .init(text: "/{a}", refusal: "must be percent-encoded"),
        .init(text: "/a/../b", refusal: "has a segment of dots"),
        .init(text: "/..", refusal: "has a segment of dots"),
        .init(text: "/a/./b", refusal: "has a segment of dots"),
        .init(text: "/a/%2E%2e/b", refusal: "has a segment of dots"),
        .init(text: "/a/..;x=1/b", refusal: "has a segment of dots"),
    ]

    @Test(arguments: paths) func `have a path as it is sent`(row: Row) throws {
        try Self.check(row) { try RequestHead(Self.request(path: row.text)).target }
        try Self.check(row) {
            let head = RequestHead(method: .get, origin: Self.origin, target: row.text)
            return try HTTPRequest(head).path
        }
    }

    static let authorities: [Row] = [
        .init(text: "api.test", refusal: nil),
        .init(text: "api.test:8080", refusal: nil),
        .init(text: "127.0.0.1", refusal: nil),
        .init(text: "[::1]", refusal: nil),
        .init(text: "[::1]:8080", refusal: nil),
        .init(text: "xn--bcher-kva.test", refusal: nil),
        .init(text: "", refusal: "is empty"),
        .init(text: "user@api.test", refusal: "has user info"),
        .init(text: "user:planted-secret@api.test", refusal: "has user info"),
        .init(text: "api.test/evil", refusal: "more than a host"),
        .init(text: "api.test?x", refusal: "more than a host"),
        .init(text: "api.test#x", refusal: "more than a host"),
        .init(text: "api.test\\x", refusal: "more than a host"),
        .init(text: "api test", refusal: "has a blank"),
        .init(text: "api.test\r\nEvil: 1", refusal: "has a"),
        .init(text: "api\ntest", refusal: "has a"),
        .init(text: "api\ttest", refusal: "has a control character"),
        .init(text: "bücher.test", refusal: "outside ASCII"),
        .init(text: "api.test:", refusal: "impossible port"),
        .init(text: "api.test:0", refusal: "impossible port"),
        .init(text: "api.test:65536", refusal: "impossible port"),
        .init(text: "api.test:+80", refusal: "impossible port"),
        .init(text: "api.test:80:80", refusal: "impossible port"),
        .init(text: ":80", refusal: "is no host"),
        .init(text: "::1", refusal: "is no host"),
        .init(text: "[::1", refusal: "is no host"),
        .init(text: "[::1]x", refusal: "is no host"),
        .init(text: "[fe80::1%25eth0]", refusal: "is no host"),
        .init(text: "a%41", refusal: "is no host"),
    ]

    @Test(arguments: authorities) func `have an authority that is a host and a port`(row: Row) throws {
        try Self.check(row) { try RequestHead(Self.request(authority: row.text)).origin.authority }
        #expect(throws: Never.self) {
            if row.refusal == nil { _ = try HTTPRequest(RequestHead(Self.request(authority: row.text))) }
        }
    }

    @Test(arguments: ["user@api.test", "a b", "a\r\nb", "a/b", "a#b", "é", ""])
    func `of ours need a host that is one`(host: String) throws {
        let head = RequestHead(method: .get, origin: .init(scheme: .https, host: host), target: "/")
        #expect(throws: NetworkError.self) { try HTTPRequest(head) }
    }

    @Test func `have a host in lower case, and no default port`() throws {
        let head = try RequestHead(Self.request(authority: "API.Test:443"))
        #expect(head.origin.authority == "api.test")
    }

    @Test(
        arguments: [
            (nil, "a", "/", ":scheme is missing"), ("ftp", "a", "/", "neither http nor https"),
            ("https", nil, "/", ":authority is missing"), (nil, nil, "/", ":authority is missing"),
            ("https", "a", nil, ":path is missing"), ("ht\r\ntp", "a", "/", "neither http nor https"),
        ] as [(String?, String?, String?, String)])
    func `need their parts`(scheme: String?, authority: String?, path: String?, refusal: String) throws {
        #expect { try RequestHead(Self.request(.get, scheme, authority, path)) } throws: { "\($0)".contains(refusal) }
    }

    @Test func `may ask for * with OPTIONS alone`() throws {
        #expect(try RequestHead(Self.request(.options, path: "*")).target == "*")
        let head = RequestHead(method: .options, origin: Self.origin, target: "*")
        #expect(try HTTPRequest(head).path == "*")
    }

    @Test func `may not be a tunnel`() throws {
        #expect { try RequestHead(Self.request(.connect, nil, "a:443", nil)) } throws: { "\($0)".contains("CONNECT") }
        let head = RequestHead(method: .connect, origin: Self.origin, target: "api.test:443")
        #expect(throws: NetworkError.self) { try HTTPRequest(head) }
    }

    /// Fields beside `api.test`, what remains of them, and a part of the error.
    static let framings: [(Fields, Fields?, String)] = [
        (["Host": "api.test", "Accept": "*/*"], ["Accept": "*/*"], ""),
        (["Host": "API.test:443"], [:], ""),
        (["Host": "evil.test"], nil, "Host is not the same"),
        (["Host": "api.test:80"], nil, "Host is not the same"),
        (["Host": "user@api.test"], nil, "Host has user info"),
        (["Host": ""], nil, "Host is empty"),
        (["Host": "api.test", "HOST": "api.test"], nil, "several Hosts"),
        (["Content-Length": "5"], ["Content-Length": "5"], ""),
        (["Content-Length": "5, 5"], nil, "Content-Length is no number"),
        (["Content-Length": "+5"], nil, "Content-Length is no number"),
        (["Content-Length": ""], nil, "Content-Length is no number"),
        (["Content-Length": "5", "content-length": "6"], nil, "several Content-Lengths"),
        (["Transfer-Encoding": "chunked"], nil, "Transfer-Encoding"),
        (["Content-Length": "5", "Transfer-Encoding": "chunked"], nil, "Transfer-Encoding"),
    ]

    @Test(arguments: framings.indices) func `do not say twice where they go or end`(row: Int) throws {
        let (fields, remaining, refusal) = Self.framings[row]
        let theirs = try HTTPFields(fields)
        guard let remaining else {
            #expect { try RequestHead(Self.request(.post, "https", "api.test", "/", theirs)) } throws: {
                "\($0)".contains(refusal)
            }
            let head = RequestHead(method: .post, origin: Self.origin, target: "/", fields: fields)
            #expect { try HTTPRequest(head) } throws: { "\($0)".contains(refusal) }
            return
        }
        let head = try RequestHead(Self.request(.post, "https", "api.test", "/", theirs))
        #expect(head.fields == remaining)
        #expect(try HTTPRequest(head).headerFields == HTTPFields(remaining))
    }

    @Test func `have one Cookie where HTTPFields has several`() throws {
        var fields = HTTPFields()
        fields[.cookie] = "a=1; b=2"
        #expect(fields[fields: .cookie].count == 2)
        #expect(
            try RequestHead(Self.request(.get, "https", "api.test", "/", fields)).fields.values(of: "cookie") == [
                "a=1; b=2"
            ])
    }

    @Test func `show nothing of an authority with a password`() throws {
        #expect { try RequestHead(Self.request(authority: "user:planted-secret@api.test")) } throws: {
            !String(reflecting: $0).contains("planted-secret")
        }
    }

    static let origin = HTTP.Origin(scheme: .https, host: "api.test")

    static func request(path: String) -> HTTPRequest { request(.get, "https", "api.test", path) }
    static func request(_ method: HTTPRequest.Method, path: String) -> HTTPRequest {
        request(method, "https", "api.test", path)
    }
    static func request(authority: String) -> HTTPRequest { request(.get, "https", authority, "/") }

    static func check(_ row: Row, _ convert: () throws -> String?) throws {
        guard let refusal = row.refusal else {
            #expect(try convert() == row.text)
            return
        }
        #expect { try convert() } throws: {
            let error = $0 as? NetworkError
            return error?.code == .invalidRequest && error?.reason.contains(refusal) == true
        }
    }
}

@Suite struct `Responses, from and to HTTPResponse` {
    @Test func `have status, phrase and fields as they were received`() async throws {
        let head = try await Wire.response(
            "HTTP/1.1 299 Fine enough\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nContent-Length: 0\r\n\r\n")
        let response = try HTTPResponse(head)
        #expect(response.status.code == 299)
        #expect(response.status.reasonPhrase == "Fine enough")
        #expect(response.headerFields.map(\.name.rawName) == ["Set-Cookie", "set-cookie", "Content-Length"])
        let back = try ResponseHead(response)
        #expect(back.status == head.status)
        #expect(back.fields == head.fields)
    }

    @Test func `have a phrase in Latin-1`() async throws {
        let wire: [UInt8] = Array("HTTP/1.1 200 caf".utf8) + [0xE9] + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
        #expect(try HTTPResponse(await Wire.response(Bytes(wire))).status.reasonPhrase == "café")
    }

    @Test(arguments: [-1, 1000]) func `with a status that HTTPResponse would trap on are refused`(code: Int) throws {
        #expect { try HTTPResponse(ResponseHead(status: HTTP.Status(code))) } throws: {
            ($0 as? NetworkError)?.code == .invalidResponse
        }
    }

    @Test(
        arguments: [
            ["Content-Length": "5", "Transfer-Encoding": "chunked"], ["Content-Length": "5", "content-length": "6"],
            ["Content-Length": "-1"],
        ] as [Fields])
    func `that have two lengths are refused`(fields: Fields) throws {
        let response = HTTPResponse(status: .ok, headerFields: try HTTPFields(fields))
        #expect { try ResponseHead(response) } throws: {
            ($0 as? NetworkError)?.code == .invalidResponse
        }
    }

    @Test func `with a value that HTTPField would change are refused by name`() throws {
        let head = ResponseHead(status: .ok, fields: ["X-Bad": "a\r\nb"])
        #expect { try HTTPResponse(head) } throws: {
            ($0 as? NetworkError)?.code == .invalidResponse && "\($0)".contains("X-Bad")
        }
    }
}
