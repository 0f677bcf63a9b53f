public import DunlinTypes
internal import Glibc
internal import Synchronization

/// An HTTP/1.1 server on a real socket that does exactly what a test tells it, and records what it sees.
///
/// It shares no code with Dunlin's connections and parser: blocking sockets, one thread per connection and a parser of
/// its own make it an independent witness. It is strict with clients: what HTTP/1.1 does not allow is answered with 400
/// and listed in `failures`.
///
/// ```swift
/// let server = try LoopbackServer()
/// server.route(.get, "/users/42", .response(fields: ["Content-Type": "application/json"], body: #"{"id":42}"#))
/// server.enqueue(.response(503, fields: ["Retry-After": "1"]), .response(body: "second try"))
///
/// // … use the client under test with server.baseURL …
///
/// let request = try await server.nextRequest()
/// #expect(request.target == "/users/42")
/// #expect(server.failures.isEmpty)
/// server.stop()
/// ```
///
/// **Which reply.** First a matching route, with its replies in order and the last one repeatedly; then the queue of
/// `enqueue`, each reply once; then the closure of `respond`; then 404.
///
/// **What a reply can do.** A `Reply` is a list of steps: bytes whole, dripped or split, pauses, stalls, resets,
/// closes. Modifiers damage a good reply:
///
/// ```swift
/// server.enqueue(.response(body: "hello").resetAfter(20))          // RST in the middle
/// server.enqueue(.chunked(["one", "two"]).dripping(1))             // a byte at a time
/// server.enqueue(.response(body: "stale").closingOnNextRequest)    // a keep-alive race
/// server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Le"), .stall]) // half a head
/// ```
///
/// **TLS.** With certificates of a `CertificateAuthority`, all of this works over TLS too; `Arrival.handshake` spoils a
/// handshake:
///
/// ```swift
/// let server = try LoopbackServer(tls: .init(authority.issue(.server("127.0.0.1"))))
/// server.onConnect(.handshake(.stall(after: 100)))
/// server.enqueue(.untilClose("half").cutAfter(60))                 // no close_notify: a truncation
/// ```
///
/// **Files.** An `Entity` is a body of any length with validators and ranges; `serve` serves it at a target, with the
/// faults of each request:
///
/// ```swift
/// server.serve(.init(length: 1 << 30, tag: "\"v1\""), at: "/disk.img", faults: .reset(after: 1000), .changed)
/// ```
///
/// **Without sleeping.** A `Gate` holds a reply until the test opens it, or tells the test where the reply is:
///
/// ```swift
/// let headSent = LoopbackServer.Gate(), goOn = LoopbackServer.Gate()
/// server.enqueue([
///     .message(.init(200, fields: ["Content-Length": "2"])), .signal(headSent),
///     .waitForSignal(goOn), .send("hi"),
/// ])
/// try await headSent.opened()
/// ```
///
/// `wait(until:)` waits for anything that the server counts, for instance until a cancelled client has closed its
/// connection: `try await server.wait { $0.open == 0 }`.
///
/// The server listens until `stop()`, or until its last reference is released. It retains its closures until then, so a
/// closure that refers to the server keeps it alive until `stop()` is called.
public final class LoopbackServer: Sendable {
    /// The address that it listens on.
    public let address: HTTP.SocketAddress
    let core: Core
    private let scheme: String

    /// Starts listening, with TLS if settings are given. Throws the failed system call's error, and `AuthorityError` if
    /// OpenSSL refuses `tls`.
    public init(_ endpoint: Endpoint = .ipv4, tls: TLS? = nil, configuration: Configuration = Configuration()) throws {
        // Created only to report unusable settings here, and not to the first connection.
        if let tls { _ = try TLSSession(tls) }
        scheme = tls == nil ? "http" : "https"
        core = try Core(configuration, tls)
        address = try Self.listen(core, endpoint, port: 0, configuration)
    }

    /// Starts listening at a port of IPv4 to which a socket of the test's own is bound, so that nobody else gets it
    /// while no server is there.
    package init(heldPort port: UInt16) throws {
        let configuration = Configuration()
        scheme = "http"
        core = try Core(configuration, nil)
        address = try Self.listen(core, .ipv4, port: port, configuration)
    }

    private static func listen(
        _ core: Core, _ endpoint: Endpoint, port: UInt16, _ configuration: Configuration
    ) throws -> HTTP.SocketAddress {
        let listener = try Listener(endpoint, port: port, configuration)
        let address = listener.address
        let isTCP =
            switch address {
            case .unix: false
            case .v4, .v6: true
            }
        let path = listener.path
        if !configuration.completesConnections { try core.fill(listener) }
        let number = listener.socket.release()
        do {
            try core.threads.startFirst(name: "loopback") { [core] lifeline in
                core.accept(from: number, lifeline, isTCP: isTCP)
                if let path { unlink(path) }
            }
        } catch {
            _ = close(number)
            if let path { unlink(path) }
            throw error
        }
        return address
    }

    deinit { stop() }

    /// Closes every connection and the listening socket. Returns when all threads have ended. The server's closures are
    /// released. Calling it again has no effect. Called from one of the server's own closures, it does not wait.
    public func stop() {
        core.stop()
    }
}

extension LoopbackServer {
    /// The port that the kernel chose; 0 for a Unix socket.
    public var port: UInt16 {
        switch address {
        case .v4(_, let port), .v6(_, _, let port, _): port
        case .unix: 0
        }
    }

    /// `http://127.0.0.1:PORT` or `http://[::1]:PORT`; for a Unix socket `http://localhost`, with `address` for the
    /// rest. `https` for a server with TLS.
    public var baseURL: String {
        switch address {
        case .v4, .v6: "\(scheme)://\(address)"
        case .unix: "\(scheme)://localhost"
        }
    }

    /// Adds replies for the next requests without a route, each used once.
    public func enqueue(_ replies: Reply...) {
        core.script.enqueue(replies)
    }

    /// Sets the replies for a method and target; the last one is repeated. A target without a query matches any query.
    /// A later route for the same target replaces an earlier one.
    public func route(_ method: HTTP.Method, _ target: String, _ replies: Reply...) {
        core.script.route(method, target, replies)
    }

    /// Answers every request for a target, with any method, once its body has been read. `attempt` counts the requests
    /// from 0. The closure runs like that of `respond`.
    public func route(
        _ target: String, _ responder: @escaping @Sendable (_ attempt: Int, RecordedRequest) -> Reply
    ) {
        let attempts = Atomic<Int>(0)
        core.script.route(target) { responder(attempts.add(1, ordering: .relaxed).oldValue, $0) }
    }

    /// Answers every request without a route or queued reply, once its body has been read. The closure runs on the
    /// connection's thread and may block it, but then `stop()` waits for it.
    public func respond(_ responder: @escaping @Sendable (RecordedRequest) -> Reply) {
        core.script.respond(responder)
    }

    /// Replaces the TLS settings for later connections of a server that began with TLS: a new certificate, other
    /// versions. Earlier tickets are useless unless `tls` is a changed copy of the former settings.
    public func present(_ tls: TLS) throws(AuthorityError) {
        _ = try TLSSession(tls)
        core.present(tls)
    }

    /// Adds what happens to the next connections, each used once.
    public func onConnect(_ arrivals: Arrival...) {
        core.script.onConnect(arrivals)
    }

    /// Decides what happens to connections without a queued arrival, by their index.
    public func onConnect(_ handler: @escaping @Sendable (_ connection: Int) -> Arrival) {
        core.script.onConnect(handler)
    }
}

extension LoopbackServer {
    /// Every request so far, in the order in which they were read.
    public var requests: [RecordedRequest] { core.ledger.requests }
    /// Every successful TLS handshake, in order.
    public var handshakes: [Handshake] { core.ledger.handshakes }
    /// What clients did wrong, and system calls that failed. A test of a correct client expects none.
    public var failures: [Failure] { core.ledger.failures }
    public var activity: Activity { core.ledger.activity }
    /// The number of connections accepted.
    public var connectionCount: Int { activity.accepted }
    public var openConnections: Int { activity.open }
    /// The number of bytes that the kernel took from the server, for all connections.
    public var bytesSent: Int { activity.bytesSent }

    /// Returns the oldest request that no earlier call has returned, and waits for it if necessary.
    ///
    /// Throws `WaitTimedOut` if that takes longer than `limit`, as the other waits do.
    public func nextRequest(within limit: Duration = .patience) async throws -> RecordedRequest {
        try await core.ledger.broadcast.first(within: limit, core.describe("a request")) { [core] in
            core.ledger.takeRequest()
        }
    }

    /// Returns the first `count` requests, once there are that many.
    public func waitForRequests(
        _ count: Int, within limit: Duration = .patience
    ) async throws -> [RecordedRequest] {
        try await core.ledger.broadcast.first(within: limit, core.describe("request number \(count)")) { [core] in
            let requests = core.ledger.requests
            return requests.count >= count ? Array(requests.prefix(count)) : nil
        }
    }

    /// Waits until the numbers satisfy a condition.
    public func wait(
        within limit: Duration = .patience, until condition: @escaping @Sendable (Activity) -> Bool
    ) async throws {
        try await core.ledger.broadcast.first(within: limit, core.describe("the awaited activity")) { [core] in
            condition(core.ledger.activity) ? () : nil
        }
    }
}
