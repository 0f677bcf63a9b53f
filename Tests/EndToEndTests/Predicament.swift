import Dunlin
import DunlinTesting
import Synchronization

/// One phase in which a request hangs, and how to get it there.
enum Predicament: String, CaseIterable, Sendable {
    case pool
    case resolve
    case connect
    /// The server says the first part of its hello.
    case tls
    /// The user's hook makes up its mind about the server.
    case trustHook
    case send
    case firstByte
    case head
    case body
    case trailingChunk

    var phase: HTTP.Phase {
        switch self {
        case .pool: .pool
        case .resolve: .resolve
        case .connect: .connect
        case .tls, .trustHook: .tls
        case .send: .send
        case .firstByte: .firstByte
        case .head, .body, .trailingChunk: .receive
        }
    }

    /// Some there are only with TLS.
    var isPossible: Bool { Stage.isSecure || phase != .tls }

    func configure(_ configuration: inout HTTPSession.Configuration) {
        switch self {
        case .pool: configuration.connections.perOrigin = 1
        case .resolve: configuration.resolver = SilentResolver()
        case .trustHook: configuration.authenticationHandler = Hesitation.hook(for: configuration.baseURL)
        default: break
        }
    }

    var server: LoopbackServer.Configuration {
        var configuration = LoopbackServer.Configuration()
        if self == .connect { configuration.completesConnections = false }
        if self == .send { configuration.receiveBuffer = 16 << 10 }
        return configuration
    }

    /// Makes the server hang in the way meant.
    func prepare(_ stage: Stage) {
        switch self {
        case .pool, .firstByte: stage.server.enqueue([.stall])
        case .resolve, .connect, .trustHook: break
        case .tls: stage.server.onConnect(.handshake(.stall(after: 100)))
        case .send: stage.server.enqueue(LoopbackServer.Reply([.stall]).beforeBody)
        case .head: stage.server.enqueue([.send("HTTP/1.1 200 O"), .stall])
        case .body: stage.server.enqueue(.response(body: "0123456789").stallingAfter(42))
        case .trailingChunk:
            let opening: Bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"
            stage.server.enqueue([.send(opening), .stall])
        }
    }

    /// The request that hangs.
    func request(_ stage: Stage) async throws {
        switch self {
        case .resolve:
            _ = try await stage.session.get("http://nowhere.test:\(stage.server.port)/", as: .bytes)
        case .send:
            let body = Bytes([UInt8](repeating: 1, count: 32 << 20))
            _ = try await stage.session.post("big", body: .bytes(body), as: .bytes)
        default:
            _ = try await stage.session.get("x", as: .bytes)
        }
    }

    /// Waits until the request hangs.
    func waitUntilStuck(_ stage: Stage) async throws {
        switch self {
        case .pool:
            try await stage.eventually("the pool is waited for") { stage.session.connections.waiting == 1 }
        case .resolve, .connect:
            try await stage.eventually("the request is running") {
                await stage.session.tasks.all.contains { $0.state == .running(hop: 1) }
                    && stage.session.connections.open == 1
            }
        case .tls:
            try await stage.server.wait { $0.bytesSent == 100 }
        case .trustHook:
            try await stage.eventually("the hook is asked") { Hesitation.asked(by: stage.server.baseURL) }
        case .firstByte, .send:
            _ = try await stage.server.waitForRequests(1)
        case .head, .body, .trailingChunk:
            _ = try await stage.server.waitForRequests(1)
            try await stage.server.wait { $0.bytesSent > 0 }
            // What was sent has been read when the loop has had nothing to do for a while.
            var looks = 0
            try await stage.eventually("what was sent has been read", every: .milliseconds(2)) {
                looks = stage.loop.isResting ? looks + 1 : 0
                return looks >= 20
            }
        }
    }

    /// For `pool`, the request that occupies the only connection; nil otherwise.
    func occupy(_ stage: Stage) async throws -> Task<Void, any Error>? {
        guard self == .pool else { return nil }
        let occupant = Task { _ = try await stage.session.get("occupied", as: .bytes) }
        _ = try await stage.server.waitForRequests(1)
        return occupant
    }
}

/// A hook that never answers the first time, and ends when it is cancelled.
enum Hesitation {
    /// The servers it has been asked about.
    private static let known = Mutex<Set<String>>([])

    static func hook(for server: String?) -> HTTPSession.AuthenticationHandler {
        let server = server ?? ""
        // Another test may have had a server on this port.
        known.withLock { _ = $0.remove(server) }
        return { _ in
            let isFirst = known.withLock { $0.insert(server).inserted }
            if isFirst {
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
            return .performDefault
        }
    }

    static func asked(by server: String) -> Bool { known.withLock { $0.contains(server) } }
}

/// Never answers, and ends when it is cancelled.
struct SilentResolver: Resolver {
    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
        for await _ in AsyncStream<Void>.makeStream().stream {}
        throw CancellationError()
    }
}
