internal import DunlinReactor
public import DunlinTypes
internal import Glibc
internal import Synchronization

/// A proxy on a real socket, with HTTP (absolute form and CONNECT) and SOCKS5 on one port, and with the faults that a
/// test tells it.
///
/// ```swift
/// let proxy = try LoopbackProxy(user: "ada", password: "secret")
/// configuration.proxy = .url("http://ada:secret@127.0.0.1:\(proxy.port)")
/// proxy.enqueue(.stall(after: 10))                 // half an answer, and then nothing
/// ```
///
/// Every name stands for 127.0.0.1 here. It shares no code with Dunlin's connections: it has blocking sockets, and a
/// thread for each connection. It listens until `stop()`. With `tls`, clients use TLS to it, and their requests are
/// inside that.
public final class LoopbackProxy: Sendable {
    /// A fault of the proxy's next answer to CONNECT, a request in absolute form, or SOCKS. Its own answer is
    /// everything that it sends before the tunnel, or before the origin's response.
    public enum Fault: Sendable, Hashable {
        case none
        /// Closes the connection after this many bytes of its own answer.
        case close(after: Int)
        case reset(after: Int)
        /// Sends nothing more after this many bytes of its own answer.
        case stall(after: Int)
        /// Sends its own answer a byte at a time.
        case drip
        /// Sends this instead of its own answer, and continues to read.
        case say(Bytes)
        /// Sends this, and closes the connection.
        case sayAndClose(Bytes)
        /// Sends this after its own answer to CONNECT, in one piece with it.
        case add(Bytes)
    }

    /// How the proxy authenticates clients.
    public enum Login: Sendable, Hashable {
        case basic
        /// By Digest with SHA-256. Each nonce is valid for this many requests, and stale afterwards.
        case digest(nonceUses: Int = .max)
    }

    /// What a proxy with TLS does to its connections at once, after everything it has sent already.
    public enum Deed: Sendable, Hashable {
        /// Changes keys; the client must do the same.
        case renewKeys
        /// Sends these bytes within the client's TLS to the proxy.
        case say(Bytes)
        /// Sends these bytes outside that TLS.
        case sayOutsideTLS(Bytes)
        /// Closes the connection after a close_notify.
        case close
        /// Closes the connection without a close_notify.
        case cut
        case reset
    }

    /// A client's request to the proxy.
    public struct Visit: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            case connect
            case absolute
            case socks
        }

        public let kind: Kind
        /// The `host:port` of a tunnel, or the URL.
        public let target: String
        /// Everything that the client sent before the tunnel, or before the request's body. For SOCKS, user name and
        /// password.
        public let said: String
        /// The index of the connection, from 0.
        public let connection: Int
    }

    public let port: UInt16
    let core: Core

    /// Starts a proxy. With a user name, it asks every client for it and the password.
    public init(
        user: String? = nil, password: String = "", login: Login = .basic, tls: LoopbackServer.TLS? = nil
    ) throws {
        let listener = try LoopbackServer.Listener(.ipv4, LoopbackServer.Configuration())
        guard case .v4(_, let port) = listener.address else { throw Errno(rawValue: EAFNOSUPPORT) }
        self.port = port
        core = try Core(user.map { Authenticator(user: $0, password: password, login: login) }, tls)
        let number = listener.socket.release()
        do {
            try core.threads.startFirst(name: "proxy") { [core] lifeline in core.accept(from: number, lifeline) }
        } catch {
            _ = close(number)
            throw error
        }
    }

    deinit { stop() }

    /// Closes every connection. Returns when all threads have ended.
    public func stop() { core.threads.stop() }

    /// Adds faults for the next answers, each used once.
    public func enqueue(_ faults: Fault...) { core.state.withLock { $0.faults += faults } }

    /// Adds faults for the next TLS handshakes with clients, each used once.
    public func enqueue(handshakes faults: LoopbackServer.HandshakeFault...) {
        core.state.withLock { $0.handshakeFaults += faults }
    }

    /// Does this, in order, to each TLS connection that is open now.
    public func act(_ deeds: Deed...) {
        let wakers = core.state.withLock { state in
            for index in state.fronts.keys { state.fronts[index]?.deeds += deeds }
            return state.fronts.values.map(\.waker)
        }
        for waker in wakers { waker.wake() }
    }

    /// Returns `http://127.0.0.1:PORT`, or the same with another scheme and user info.
    public func url(_ scheme: String = "http", user: String? = nil, password: String = "") -> String {
        "\(scheme)://\(user.map { "\($0):\(password)@" } ?? "")127.0.0.1:\(port)"
    }

    /// The requests so far, in order, without what went through tunnels.
    public var visits: [Visit] { core.state.withLock { $0.visits } }
    /// The results of the TLS handshakes with clients, in order.
    public var handshakes: [LoopbackServer.Handshake] { core.ledger.handshakes }
    /// The number of connections accepted.
    public var connectionCount: Int { core.state.withLock { $0.accepted } }
    /// The number of client connections open now.
    public var openConnections: Int { core.state.withLock { $0.open } }
}
