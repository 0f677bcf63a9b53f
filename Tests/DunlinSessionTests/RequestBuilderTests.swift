import Dunlin
import LedgerRows
import Testing

@testable import DunlinSession
@testable import DunlinTransfers

@Suite struct `Request builder` {
    private static func head(
        _ target: HTTP.Target, base: String? = nil, query: HTTP.Query = [:], socketPath: String? = nil
    ) throws -> RequestHead {
        var configuration = HTTPSession.Configuration(baseURL: base)
        configuration.socketPath = socketPath
        return try RequestBuilder(configuration).head(.get, target, query, .none, Fields(), nil)
    }

    static let targets: [(String?, HTTP.Target, HTTP.Query, String)] = [
        ("http://example.com/v1", "users", [:], "http://example.com /v1/users"),
        ("http://example.com/v1/", "users", [:], "http://example.com /v1/users"),
        ("http://example.com/v1", "/users", [:], "http://example.com /users"),
        ("http://example.com/v1", "users/\("a/b")", ["q": "1"], "http://example.com /v1/users/a%2Fb?q=1"),
        ("http://example.com", "users?a=1", ["b": "2"], "http://example.com /users?a=1&b=2"),
        (nil, "https://example.com:8443/x", ["b": HTTP.QueryFlag()], "https://example.com:8443 /x?b"),
        (nil, "http://[::1]", [:], "http://[::1] /"),
    ]

    @Test(arguments: targets)
    func `the URL of a request is joined from base, target and query`(
        base: String?, target: HTTP.Target, query: HTTP.Query, expected: String
    ) throws {
        let head = try Self.head(target, base: base, query: query)
        #expect("\(head.origin) \(head.target)" == expected)
    }

    @Test(arguments: [
        ("users", NetworkError.Code.invalidRequest), ("", .invalidRequest), ("http://", .invalidRequest),
        ("ftp://example.com/", .unsupportedScheme), ("http://exa mple.com/", .invalidRequest),
    ])
    func `a target that makes no usable URL is refused`(text: String, code: NetworkError.Code) {
        let failure = #expect(throws: NetworkError.self) { try Self.head(HTTP.Target(text)) }
        #expect(failure?.code == code)
        #expect(failure?.underlying != nil)
        #expect(failure?.requestMayHaveBeenSent == false)
    }

    @Test func `a socket stands in for host and port, which stay in the authority`() throws {
        let head = try Self.head("http://example.com/x", socketPath: "/run/s")
        #expect(head.origin == HTTP.Origin(scheme: .http, host: "example.com", socketPath: "/run/s"))
        #expect(head.origin.authority == "example.com")
        #expect(try Self.head("http://example.com/x").origin.socketPath == nil)
    }

    private struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var own: Fields = [:]
        var accept: String?
        var contentType: String?
        var expected: Fields
    }

    private static let merges = [
        Case(testDescription: "nothing said", expected: ["User-Agent": "u", "Accept": "*/*"]),
        Case(
            testDescription: "own field", own: ["user-agent": "me", "X": "1"],
            expected: ["Accept": "*/*", "user-agent": "me", "X": "1"]),
        Case(
            testDescription: "accept of the serializer", accept: "application/json",
            expected: ["User-Agent": "u", "Accept": "application/json"]),
        Case(
            testDescription: "own accept counts for more", own: ["accept": "text/html"], accept: "application/json",
            expected: ["User-Agent": "u", "accept": "text/html"]),
        Case(
            testDescription: "content type of the body", contentType: "text/plain",
            expected: ["User-Agent": "u", "Accept": "*/*", "Content-Type": "text/plain"]),
        Case(
            testDescription: "own content type counts for more", own: ["content-type": "a/b"],
            contentType: "text/plain", expected: ["User-Agent": "u", "Accept": "*/*", "content-type": "a/b"]),
    ]

    @Test(.rows("RQ-40"), arguments: merges)
    private func `a request's own fields count before those of its serializer, its body and the session`(_ merge: Case)
        throws
    {
        let defaults: Fields = ["User-Agent": "u", "Accept": "*/*"]
        let builder = try RequestBuilder(.init(baseURL: "http://h", fields: defaults))
        let body = RequestBody(.none, contentType: merge.contentType)
        let head = try builder.head(.post, "x", [:], body, merge.own, merge.accept)
        #expect(head.fields == merge.expected)
        #expect(head.method == .post)
    }

    private static let broken: [(String, @Sendable (inout HTTPSession.Configuration) -> Void)] = [
        ("base with a query", { $0.baseURL = "http://h/?q" }),
        ("base that is no URL", { $0.baseURL = "h/v1" }),
        ("no connections", { $0.connections.perOrigin = 0 }),
        ("no connections at all", { $0.connections.total = 0 }),
        ("a negative line", { $0.connections.maximumWaiting = -1 }),
        ("connections too old at once", { $0.connections.maximumAge = .zero }),
        ("connections never used", { $0.connections.maximumUses = 0 }),
        ("negative idle time", { $0.connections.idleTime = .seconds(-1) }),
        ("negative body limit", { $0.limits.bodyBytes = -1 }),
        ("no loops", { $0.loops = [] }),
        ("a timeout of nothing", { $0.timeouts.connect = .zero }),
    ]

    @Test(.rows("HS-2"), arguments: broken)
    private func `settings that contradict themselves are refused`(
        name: String, breakIt: @Sendable (inout HTTPSession.Configuration) -> Void
    ) throws {
        var configuration = HTTPSession.Configuration()
        _ = try RequestBuilder(configuration)
        breakIt(&configuration)
        let failure = #expect(throws: NetworkError.self) { try RequestBuilder(configuration) }
        #expect(failure?.code == .invalidConfiguration)
    }
}
