import Dunlin
import DunlinTesting
import Folders
import LedgerRows
import Testing

/// Where a session's own resolver or transport leads is its own as well: another server may be there, or nobody who was
/// checked.
@Suite(.timeLimit(.minutes(10)))
struct `What a resolver or transport of one's own brings` {
    private static let fresh: Fields = ["Cache-Control": "max-age=86400"]

    private struct Leading: Resolver {
        let address: HTTP.SocketAddress

        init(to server: LoopbackServer) {
            address = .v4(0x7F00_0001, port: server.port)
        }

        func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] { [address] }
    }

    private final class SharedLeading: Resolver {
        private let leading: Leading

        init(to server: LoopbackServer) {
            leading = Leading(to: server)
        }

        func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
            try await leading.addresses(of: host, port: port)
        }
    }

    private static func session(
        _ resolver: any Resolver, _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> HTTPSession {
        try HTTPSession(baseURL: "http://h.test:8080") {
            $0.resolver = resolver
            $0.proxy = .none
            try change(&$0)
        }
    }

    @Test func `what a resolver led to is for sessions with the same one, or whose user has the same name`()
        async throws
    {
        let (first, second) = (try LoopbackServer(), try LoopbackServer())
        first.respond { _ in .response(fields: Self.fresh, body: "first") }
        second.respond { _ in .response(fields: Self.fresh, body: "second") }
        let (cache, shared) = (HTTPSession.Cache(), SharedLeading(to: second))
        let ways: [(any Resolver, user: String?, body: String, sent: [Int])] = [
            (Leading(to: first), nil, "first", [1, 0]), (Leading(to: second), nil, "second", [1, 1]),
            (Leading(to: first), nil, "first", [2, 1]),
            (shared, nil, "second", [2, 2]), (shared, nil, "second", [2, 2]),
            (SharedLeading(to: first), nil, "first", [3, 2]),
            (Leading(to: first), "ada", "first", [4, 2]), (Leading(to: first), "ada", "first", [4, 2]),
            (Leading(to: second), "bob", "second", [4, 3]),
        ]
        for (index, way) in ways.enumerated() {
            let session = try Self.session(way.0) { ($0.cache, $0.userID) = (cache, way.user) }
            #expect(try await session.get("page", as: .string).value == way.body, "\(index)")
            #expect([first, second].map(\.requests.count) == way.sent, "\(index)")
            await session.shutdown()
        }
    }

    @Test(.rules("9110-4.3.3-2")) func `what came over a transport of one's own is not taken for what TLS has checked`()
        async throws
    {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: .init(try authority.issue(.server("h.test"))))
        server.respond { _ in .response(fields: Self.fresh, body: "checked") }
        let transport = MockTransport()
        transport.on(.get, "/page").respond(fields: Self.fresh, body: "unchecked").always()
        var sockets = HTTPSession.Configuration(baseURL: "https://h.test")
        (sockets.cache, sockets.proxy) = (HTTPSession.Cache(), .none)
        sockets.tls.roots = .only([.bytes(authority.certificate.der)])
        sockets.hostOverrides = ["h.test": .v4(0x7F00_0001, port: server.port)]
        var mocked = sockets
        mocked.transport = transport
        for _ in 1...2 {
            for (configuration, body) in [(mocked, "unchecked"), (sockets, "checked")] {
                let session = try HTTPSession(configuration)
                #expect(try await session.get("page", as: .string).value == body)
                await session.shutdown()
            }
        }
        #expect(transport.requests.count == 1 && server.requests.count == 1)
    }

    /// A transport around the session's own which asks for something else.
    private struct Detour: Transport {
        let target: String
        let inner: any Transport

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            try await inner.exchange(request.with { $0.head.target = target })
        }
    }

    private final class SharedDetour: Transport {
        private let detour: Detour

        init(_ target: String, _ inner: any Transport) {
            detour = Detour(target: target, inner: inner)
        }

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            try await detour.exchange(request)
        }
    }

    @Test
    func `what a transport around the session's own led to is for sessions with the same one, or of the same name`()
        async throws
    {
        let server = try LoopbackServer()
        server.respond { .response(fields: ["Cache-Control": "public, max-age=86400"], body: Bytes($0.target)) }
        let shared = HTTPSession.Interception.transport { SharedDetour("/shared", $0) }
        func detour(_ target: String) -> HTTPSession.Interception { .transport { Detour(target: target, inner: $0) } }
        let ways: [(around: HTTPSession.Interception?, user: String?, body: String, sent: Int)] = [
            (detour("/one"), nil, "/one", 1), (nil, nil, "/page", 2), (detour("/two"), nil, "/two", 3),
            (detour("/one"), nil, "/one", 4), (nil, nil, "/page", 4), (nil, "ada", "/page", 4),
            (shared, nil, "/shared", 5), (shared, nil, "/shared", 5),
            (detour("/one"), "ada", "/one", 6), (detour("/one"), "ada", "/one", 6), (detour("/two"), "bob", "/two", 7),
        ]
        let cache = HTTPSession.Cache()
        for (index, way) in ways.enumerated() {
            let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)") {
                ($0.cache, $0.userID, $0.proxy) = (cache, way.user, .none)
                $0.interceptors = way.around.map { [$0] } ?? []
            }
            for _ in 1...2 { #expect(try await session.get("page", as: .string).value == way.body, "\(index)") }
            #expect(server.requests.count == way.sent, "\(index)")
            await session.shutdown()
        }
    }

    @Test func `the rest of a file is not asked for where another resolver leads`() async throws {
        let folder = try Folder()
        let destination = HTTPSession.Destination.file("\(folder.path)/file")
        let (first, second) = (try LoopbackServer(), try LoopbackServer())
        let fields: Fields = ["ETag": "\"1\"", "Accept-Ranges": "bytes"]
        let (old, new) = (Bytes([UInt8](repeating: 1, count: 100_000)), Bytes([UInt8](repeating: 2, count: 100_000)))
        first.respond { _ in .response(fields: fields, body: old).stallingAfter(50_000) }
        second.respond { request in
            guard let range = request.fields["range"], let start = Int(range.dropFirst(6).dropLast()) else {
                return .response(fields: fields, body: new)
            }
            let rest: Fields = ["Content-Range": "bytes \(start)-99999/100000"]
            return .response(206, fields: fields.overlaid(with: rest), body: new[start..<100_000])
        }
        let begun = try Self.session(Leading(to: first))
        let task = try begun.downloadTask("file", to: destination, resuming: .ifValidatorMatches)
        task.resume()
        try await eventually("half has come", following: first) { task.downloaded.wireBytes > 40_000 }
        task.cancel()
        _ = await task.result
        let other = try Self.session(Leading(to: second))
        _ = try await other.download("file", to: destination, resuming: .ifValidatorMatches)
        #expect(try folder.contents("file") == new)
        await begun.shutdown()
        await other.shutdown()
    }
}
