internal import DunlinReactor
public import DunlinTypes
internal import Glibc
internal import Synchronization

/// A proxy on a real socket that speaks HTTP, by absolute form and CONNECT, and SOCKS5 on one port, and does wrong what
/// a test tells it to.
///
/// ```swift
/// let proxy = try LoopbackProxy(user: "ada", password: "secret")
/// configuration.proxy = .url("http://ada:secret@127.0.0.1:\(proxy.port)")
/// proxy.enqueue(.stall(after: 10))                 // half an answer, and then nothing
/// ```
///
/// Names stand for 127.0.0.1 here, whatever they are. It shares no code with Dunlin's connections: blocking sockets, a
/// thread for each connection. It listens until `stop()`. With `tls` clients speak TLS with it, and what they say to
/// origins is inside that.
public final class LoopbackProxy: Sendable {
    /// What becomes of the proxy's next answer, to CONNECT, a request in absolute form, or SOCKS. Its own answer is all
    /// that it says before the tunnel, or before what the origin says.
    public enum Fault: Sendable, Hashable {
        case none
        /// Ends the connection after so many bytes of its own answer.
        case close(after: Int)
        case reset(after: Int)
        /// Says no more after so many bytes of its own answer.
        case stall(after: Int)
        /// Sends its own answer a byte at a time.
        case drip
        /// Says this in place of its own answer, and goes on reading what the client says next.
        case say(Bytes)
        /// Says this, and ends the connection.
        case sayAndClose(Bytes)
        /// Says this behind its own answer to CONNECT, in one piece with it.
        case add(Bytes)
    }

    /// How it asks who a client is.
    public enum Login: Sendable, Hashable {
        case basic
        /// By Digest with SHA-256. Each nonce is for so many requests, and stale after them.
        case digest(nonceUses: Int = .max)
    }

    /// What a proxy with TLS does to its connections at once, behind what it has said already.
    public enum Deed: Sendable, Hashable {
        /// New keys, which the client has to answer in kind.
        case renewKeys
        /// These bytes within the TLS that the client speaks with the proxy.
        case say(Bytes)
        /// These bytes past that TLS.
        case sayOutsideTLS(Bytes)
        /// Ends the connection after a close_notify.
        case close
        /// Ends it without.
        case cut
        case reset
    }

    /// What a client asked for.
    public struct Visit: Sendable, Hashable {
        public enum Kind: Sendable, Hashable {
            case connect
            case absolute
            case socks
        }

        public let kind: Kind
        /// `host:port` of a tunnel, or the URL.
        public let target: String
        /// All that the client said before the tunnel, or before the request's body. For SOCKS, user name and password.
        public let said: String
        /// Connections are counted from 0.
        public let connection: Int
    }

    public let port: UInt16
    let core: Core

    /// With a user name it asks everybody for it and the password.
    public init(
        user: String? = nil, password: String = "", login: Login = .basic, tls: LoopbackServer.TLS? = nil
    ) throws {
        let listener = try LoopbackServer.Listener(.ipv4, LoopbackServer.Configuration())
        guard case .v4(_, let port) = listener.address else { throw Errno(rawValue: EAFNOSUPPORT) }
        self.port = port
        core = try Core(user.map { Doorkeeper(user: $0, password: password, login: login) }, tls)
        let number = listener.socket.release()
        do {
            try core.crew.startFirst(name: "proxy") { [core] lifeline in core.accept(from: number, lifeline) }
        } catch {
            _ = close(number)
            throw error
        }
    }

    deinit { stop() }

    /// Closes every connection, and returns when all threads have ended.
    public func stop() { core.crew.stop() }

    /// What goes wrong with the next answers, each once.
    public func enqueue(_ faults: Fault...) { core.state.withLock { $0.faults += faults } }

    /// What goes wrong with the next TLS handshakes with clients, each once.
    public func enqueue(handshakes faults: LoopbackServer.HandshakeFault...) {
        core.state.withLock { $0.handshakeFaults += faults }
    }

    /// Does this, in order, with each connection that is open now and under TLS.
    public func act(_ deeds: Deed...) {
        let wakers = core.state.withLock { state in
            for index in state.fronts.keys { state.fronts[index]?.deeds += deeds }
            return state.fronts.values.map(\.waker)
        }
        for waker in wakers { waker.wake() }
    }

    /// `http://127.0.0.1:PORT`, or another scheme and with user info.
    public func url(_ scheme: String = "http", user: String? = nil, password: String = "") -> String {
        "\(scheme)://\(user.map { "\($0):\(password)@" } ?? "")127.0.0.1:\(port)"
    }

    /// What was asked for so far, in order; nothing of what went through a tunnel.
    public var visits: [Visit] { core.state.withLock { $0.visits } }
    /// What TLS with clients agreed on, in order.
    public var handshakes: [LoopbackServer.Handshake] { core.ledger.handshakes }
    /// Connections ever accepted.
    public var connectionCount: Int { core.state.withLock { $0.accepted } }
    /// Connections of clients that are open now.
    public var openConnections: Int { core.state.withLock { $0.open } }
}
