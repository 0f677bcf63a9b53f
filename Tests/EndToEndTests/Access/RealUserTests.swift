import Dunlin
import DunlinTesting
import DunlinTypes
import Folders
import Foundation
import Synchronization
import Testing

/// What says who asks over real connections: a certificate of ours, and what a proxy knows us by. Sessions of several
/// users share a cache.
@Suite(.timeLimit(.minutes(10)))
struct `A body belongs to who asked for it, over real connections` {
    private static let people = ["alice", "bob", nil]
    private static let authority = Result { try CertificateAuthority(.authority("Clients")) }
    private static let identities = Result {
        try ["alice", "bob"].map { try authority.get().issue(.client($0)) }
    }

    private static func identity(_ person: String?) throws -> HTTPSession.ClientIdentity? {
        guard let person else { return nil }
        let issued = try identities.get()[person == "alice" ? 0 : 1]
        return .pem(.bytes(Bytes(issued.chainPEM + (try issued.privateKeyPEM))))
    }

    enum Way: CaseIterable, Sendable {
        case certificate
        /// A proxy that reads the request, and one that does not.
        case proxy
        case tunnel
        case socks
        /// A proxy over TLS that knows our certificate.
        case proxyCertificate
        case tunnelCertificate

        var isSecure: Bool { self == .certificate || self == .tunnel || self == .tunnelCertificate || self == .socks }
        var hasSecureProxy: Bool { self == .proxyCertificate || self == .tunnelCertificate }
    }

    private enum Store: CaseIterable, Sendable {
        case memory
        case folder
    }

    /// Each answer is another, and says which it is.
    private static func count(_ server: LoopbackServer) {
        let number = Atomic(0)
        server.respond { _ in
            .response(
                fields: ["Cache-Control": "max-age=86400"],
                body: Bytes("\(number.add(1, ordering: .relaxed).newValue)".utf8))
        }
    }

    private static func sessions(
        _ way: Way, _ cache: HTTPSession.Cache, _ server: LoopbackServer, _ proxy: LoopbackProxy
    ) throws -> [HTTPSession] {
        try people.map { person in
            var configuration = try Stage.configuration(for: server)
            configuration.cache = cache
            // However slow the disk is, nobody gives up waiting for it.
            try configuration.use(ManualClock())
            switch way {
            case .certificate: configuration.tls.identity = try identity(person)
            case .proxy, .tunnel:
                configuration.proxy = .url(proxy.url("http", user: person, password: person == nil ? "" : "pw"))
            case .socks:
                configuration.proxy = .url(proxy.url("socks5h", user: person, password: person == nil ? "" : "pw"))
            case .proxyCertificate, .tunnelCertificate:
                configuration.proxy = .url(proxy.url("https"))
                configuration.proxyTLS.roots = .only([.bytes(try authority.get().certificate.der)])
                configuration.proxyTLS.identity = try identity(person)
            }
            return try HTTPSession(configuration)
        }
    }

    @Test(arguments: Way.allCases, Store.allCases)
    private func `over real connections a body in a shared cache is served only to who asked for it`(
        way: Way, store: Store
    ) async throws {
        let folder = try Folder()
        try await Stage.$isSecure.withValue(way.isSecure) {
            var tls: LoopbackServer.TLS?
            if way.hasSecureProxy {
                tls = .init(try Self.authority.get().issue(.server("127.0.0.1")))
                tls?.clientCertificate = .requested
                tls?.clientAuthorities = [try Self.authority.get().certificate.der]
            }
            let (server, proxy) = (try Stage.makeServer(), try LoopbackProxy(tls: tls))
            defer {
                server.stop()
                proxy.stop()
            }
            Self.count(server)
            let cache =
                store == .memory
                ? HTTPSession.Cache()
                : HTTPSession.Cache(.init(memory: 0, disk: 8 << 20, largestShare: 1), folder: folder.path)
            let sessions = try Self.sessions(way, cache, server, proxy)
            for _ in 1...2 {
                for (index, session) in sessions.enumerated() {
                    #expect(try await session.get("a", as: .string).value == "\(index + 1)")
                }
            }
            #expect(server.requests.count == 3)
            #expect(way == .certificate || !proxy.visits.isEmpty)
            for session in sessions { await session.shutdown() }
            await cache.close()
        }
    }

    @Test(arguments: [Way.proxy, .tunnel, .socks])
    func `a proxy that is gone leaves what may stand in for an answer to the same user, and to no other`(way: Way)
        async throws
    {
        try await Stage.$isSecure.withValue(way.isSecure) {
            let (server, proxy) = (try Stage.makeServer(), try LoopbackProxy())
            defer { server.stop() }
            server.respond { _ in
                .response(fields: ["Cache-Control": "max-age=0, stale-if-error=600"], body: "kept")
            }
            let sessions = try Self.sessions(way, HTTPSession.Cache(), server, proxy)
            #expect(try await sessions[0].get("a", as: .string).value == "kept")
            proxy.stop()
            #expect(try await sessions[0].get("a", as: .string).value == "kept")
            await #expect(throws: NetworkError.self) { try await sessions[1].get("a", as: .string) }
            #expect(server.requests.count == 1)
            for session in sessions { await session.shutdown() }
        }
    }

    // MARK: - What changes before the request is sent

    /// Says whose certificate a request came with.
    private static func tellUsers(_ stage: SecureStage) throws {
        let names = try Dictionary(uniqueKeysWithValues: zip(identities.get().map(\.der), ["alice", "bob"]))
        stage.server.respond { request in
            let name = request.handshake?.clientCertificate.flatMap { names[$0] } ?? "nobody"
            return .response(fields: ["Cache-Control": "max-age=86400"], body: Bytes(name.utf8))
        }
    }

    private static func askingForCertificates(
        _ configure: (inout HTTPSession.Configuration) throws -> Void, _ play: (SecureStage) async throws -> Void
    ) async throws {
        try await SecureStage.with(
            tls: { tls, _ in
                tls.clientCertificate = .requested
                tls.clientAuthorities = [try authority.get().certificate.der]
            },
            configure: { configuration, _ in
                configuration.tls.identity = try identity("alice")
                try configure(&configuration)
            }, play)
    }

    /// What comes of a page that alice asks for, if the session is bob's before it has the only connection.
    private static func pageThatWaits(_ stage: SecureStage) async throws -> String {
        let (session, gate, sent) = (stage.session, LoopbackServer.Gate(), stage.server.requests.count)
        stage.server.enqueue(.response(body: "first").waiting(for: gate))
        let first = Task { try await session.get("first", as: .string).value }
        _ = try await stage.server.waitForRequests(sent + 1)
        let waiting = Task { try await session.get("page", as: .string).value }
        try await eventually("it waits", following: stage.loop, stage.server) { session.connections.waiting == 1 }
        var tls = session.tls
        tls.identity = try identity("bob")
        try session.replace(tls: tls)
        gate.open()
        #expect(try await first.value == "first")
        return try await waiting.value
    }

    @Test(arguments: [true, false])
    func `what is sent as another than who asked is kept for nobody, and shared with nobody`(shares: Bool) async throws
    {
        let cache = HTTPSession.Cache()
        try await Self.askingForCertificates {
            $0.cache = cache
            $0.coalescing.isOn = shares
            $0.connections.perOrigin = 1
        } _: { stage in
            try Self.tellUsers(stage)
            let session = stage.session
            let other = try stage.anotherSession()
            #expect(try await Self.pageThatWaits(stage) == "bob")
            #expect(try await other.get("page", as: .string).value == "alice")
            #expect(try await session.get("page", as: .string).value == "bob")
            await other.shutdown()
        }
    }

    /// What is stored is asked about as alice, and the answer comes to bob.
    @Test func `what is confirmed to another than who asked is not served`() async throws {
        let cache = HTTPSession.Cache()
        try await Self.askingForCertificates {
            $0.cache = cache
            $0.connections.perOrigin = 1
        } _: { stage in
            let names = try Dictionary(uniqueKeysWithValues: zip(Self.identities.get().map(\.der), ["alice", "bob"]))
            stage.server.respond { request in
                let name = request.handshake?.clientCertificate.flatMap { names[$0] } ?? "nobody"
                let fields: Fields = ["Cache-Control": "no-cache", "ETag": #""one""#]
                if request.fields.contains("if-none-match") { return .response(304, fields: fields) }
                return .response(fields: fields, body: Bytes(name.utf8))
            }
            #expect(try await stage.session.get("page", as: .string).value == "alice")
            #expect(try await Self.pageThatWaits(stage) == "bob")
        }
    }

    // MARK: - A proxy that is chosen anew each time

    @Test(arguments: [true, false])
    func `a proxy is chosen once for what is asked for and what is kept`(isSecure: Bool) async throws {
        try await Stage.$isSecure.withValue(isSecure) {
            let server = try Stage.makeServer()
            let proxies = try [LoopbackProxy(), LoopbackProxy()]
            defer {
                server.stop()
                proxies.forEach { $0.stop() }
            }
            Self.count(server)
            let cache = HTTPSession.Cache()
            let turn = Atomic(0)
            let urls = zip(proxies, ["alice", "bob"]).map { $0.url(user: $1, password: "pw") }
            func session(_ proxy: HTTPSession.Proxy) throws -> HTTPSession {
                var configuration = try Stage.configuration(for: server)
                (configuration.cache, configuration.proxy) = (cache, proxy)
                configuration.coalescing.isOn = true
                return try HTTPSession(configuration)
            }
            let rotating = try session(
                .by { _ in .url(urls[(turn.add(1, ordering: .relaxed).oldValue) % 2]) })
            #expect(try await rotating.get("a", as: .string).value == "1")
            #expect(turn.load(ordering: .relaxed) == 1)
            #expect(proxies.map(\.visits.count) == [1, 0])
            let own = try urls.map { try session(.url($0)) }
            #expect(try await own[1].get("a", as: .string).value == "2")
            #expect(try await own[0].get("a", as: .string).value == "1")
            for session in own + [rotating] { await session.shutdown() }
        }
    }
}
