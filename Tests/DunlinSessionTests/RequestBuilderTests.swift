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
        return try RequestBuilder(configuration).head(.get, target, query: query)
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

    @Test(.rules("9110-7.1-1"), arguments: targets)
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
        let head = try builder.head(.post, "x", body: body, own: merge.own, accept: merge.accept)
        #expect(head.fields == merge.expected)
        #expect(head.method == .post)
    }

    private typealias Break = @Sendable (inout HTTPSession.Configuration) -> Void

    private static let broken: [(String, Break)] = [
        ("the base URL cannot be used", { $0.baseURL = "http://h/?q" }),
        ("the base URL cannot be used", { $0.baseURL = "h/v1" }),
        ("connections.perOrigin must be at least 1, not 0", { $0.connections.perOrigin = 0 }),
        ("connections.total must be at least 1, not -3", { $0.connections.total = -3 }),
        ("connections.maximumWaiting must be at least 0, not -1", { $0.connections.maximumWaiting = -1 }),
        ("connections.maximumAge must be above zero, not 0.0 seconds", { $0.connections.maximumAge = .zero }),
        ("connections.maximumUses must be at least 1, not 0", { $0.connections.maximumUses = 0 }),
        (
            "connections.idleTime must be at least 0.0 seconds, not -1.0 seconds",
            { $0.connections.idleTime = .seconds(-1) }
        ),
        ("loops must have at least 1 loop, not 0", { $0.loops = [] }),
        ("timeouts.connect must be above zero, not 0.0 seconds", { $0.timeouts.connect = .zero }),
        ("retry.attempts must be at least 1, not 0", { $0.retry = .exponential(attempts: 0) }),
        ("retry.base must be at least 0.0 seconds, not -1.0 seconds", { $0.retry.base = .seconds(-1) }),
        (
            "retry.cap must be at least base (2.0 seconds), not 1.0 seconds",
            { ($0.retry.base, $0.retry.cap) = (.seconds(2), .seconds(1)) }
        ),
        (
            "retry.retryAfterLimit must be at least 0.0 seconds, not -1.0 seconds",
            { $0.retry.retryAfterLimit = .seconds(-1) }
        ),
        ("sockets.priority must be 0 to 6, not 7", { $0.sockets.priority = 7 }),
        ("limits.bodyBytes must be at least 0, not -1", { $0.limits.bodyBytes = -1 }),
        ("limits.decodedBytes must be at least 0, not -1", { $0.limits.decodedBytes = -1 }),
        ("limits.decodingRatio must be at least 1, not 0", { $0.limits.decodingRatio = 0 }),
        ("limits.headBytes must be at least 1, not 0", { $0.limits.headBytes = 0 }),
        ("limits.lineBytes must be at least 1, not -16384", { $0.limits.lineBytes = -16384 }),
        ("limits.fieldCount must be at least 1, not 0", { $0.limits.fieldCount = 0 }),
        ("limits.interimResponses must be at least 0, not -1", { $0.limits.interimResponses = -1 }),
        ("limits.trailerBytes must be at least 2, not 1", { $0.limits.trailerBytes = 1 }),
        ("limits.errorBodyBytes must be at least 0, not -1", { $0.limits.errorBodyBytes = -1 }),
        ("limits.resends must be at least 0, not -1", { $0.limits.resends = -1 }),
    ]

    @Test(.rows("HS-2"), arguments: broken)
    private func `a setting that no request could keep to is refused with its name and value`(
        reason: String, breakIt: Break
    ) throws {
        var configuration = HTTPSession.Configuration()
        _ = try RequestBuilder(configuration)
        breakIt(&configuration)
        let failure = #expect(throws: NetworkError.self) { try RequestBuilder(configuration) }
        #expect(failure?.code == .invalidConfiguration)
        #expect(failure?.reason.hasPrefix(reason) == true, "\(failure?.reason ?? "")")
    }

    @Test func `a limit of zero is accepted for what a response may lack`() throws {
        var configuration = HTTPSession.Configuration()
        (configuration.limits.bodyBytes, configuration.limits.decodedBytes) = (0, 0)
        (configuration.limits.interimResponses, configuration.limits.errorBodyBytes) = (0, 0)
        configuration.limits.resends = 0
        _ = try RequestBuilder(configuration)
    }
}
