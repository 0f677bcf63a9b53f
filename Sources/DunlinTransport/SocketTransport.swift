public import DunlinReactor
public import DunlinTypes
public import DunlinWire

/// The transport over our own sockets: encodes, leases a connection or opens one, and runs the exchange.
public final class SocketTransport: Sendable {
    /// What a session may set of its connections.
    public struct Options: Sendable {
        public var connectionsPerOrigin = 128
        public var connections = 1024
        public var waiters = 10_000
        public var idleTime: Duration = .seconds(60)
        /// How long after its opening a connection is used, and how often; nil for no limit.
        public var age: Duration?
        public var uses: Int?
        public var limits = WireLimits()
        public var resolver: any Resolver = SystemResolver.shared
        /// How long a name's addresses are remembered, and that it has none; zero: not at all.
        public var nameLife: Duration = .seconds(60)
        public var missingNameLife: Duration = .seconds(5)
        public var nameCapacity = 1024
        /// How long one look-up may take before it is begun anew.
        public var lookUpTime: Duration?
        /// What passes between two attempts at one connection.
        public var attemptDelay: Duration = .milliseconds(250)
        /// Whether connections take turns with the addresses of a name.
        public var rotatesAddresses = true
        public var sockets = SocketOptions()
        public var interfaces = InterfaceRules.any

        public init() {}
    }

    /// A body up to this size travels in one write with its head.
    static let smallBody = 16 * 1024

    let pool: Pool
    private let names: NameCache
    let connector: Connector
    private let terms: ExchangeContext.Terms

    /// Without an `advisor` there is no https.
    public init(_ options: Options, on reactor: Reactor, advisor: (any HandshakeAdvisor)? = nil) {
        terms = ExchangeContext.Terms(options.limits, advisor)
        var poolLimits = Pool.Machine.Limits()
        poolLimits.connectionsPerOrigin = max(1, options.connectionsPerOrigin)
        poolLimits.connections = max(1, options.connections)
        poolLimits.waiters = max(0, options.waiters)
        poolLimits.age = options.age?.clampedNanoseconds ?? .max
        poolLimits.uses = options.uses ?? .max
        poolLimits.idleTime = options.idleTime.clampedNanoseconds
        pool = Pool(limits: poolLimits, reactor: reactor)
        names = NameCache(options, on: reactor)
        connector = Connector(
            names: names, sockets: options.sockets, interfaces: options.interfaces,
            attemptDelay: options.attemptDelay.clampedNanoseconds,
            turns: options.rotatesAddresses ? Turns() : nil)
    }

    public var gauges: PoolGauges { pool.gauges }

    /// No new leases; idle connections are closed at once, the others as their exchanges end.
    public func close() async {
        await pool.close()
        await names.close()
    }

    /// Lends no connection any more that was secured by an earlier edition: those that are idle are closed at once, the
    /// others as their exchanges end.
    public func retire(before edition: UInt64) {
        pool.retire(before: edition)
    }

    /// Reads and forgets the rest of a body of ours, if that is at most `limit` bytes and here in time, so that its
    /// connection can be used again. Otherwise gives it up, and what is still being sent of its request.
    public func drain(_ body: any BodyStream, upTo limit: Int, until deadline: MonotonicTime) async throws {
        guard let body = body as? ConnectionBody else { return }
        try await body.drain(upTo: limit, until: deadline)
    }

    /// Forgets what names mean.
    public func flushNames() {
        names.flush()
    }

    /// One exchange that began at `start`. Everything about the request is checked before a connection is touched.
    ///
    /// A body for which `UploadScope.isNeeded` is sent in `uploads`. A request with an advisor of its own counts on
    /// that instead of the session's, and has a connection to itself.
    public func exchange(
        _ request: TransportRequest, interrupt: Interrupt, uploads: UploadScope? = nil,
        attendants: Attendants? = nil, since start: MonotonicTime, on reactor: Reactor
    ) async throws -> TransportResponse {
        let context = ExchangeContext(request, interrupt, terms, attendants, since: start, on: reactor)
        var attempt = Attempt()
        attempt.started = start
        return try await begin(context, uploads, &attempt).response(context, &attempt)
    }

    /// All of it that takes no wait.
    @inline(never)
    private func begin(
        _ context: ExchangeContext, _ uploads: UploadScope?, _ attempt: inout Attempt
    ) throws -> BegunExchange {
        switch try prepare(context, uploads, &attempt) {
        case .ready(let ready): return try Connection.begin(ready.message, over: ready.lease, context, &attempt)
        case .errand(let errand):
            return .unfinished(UnfinishedExchange(.errand(errand, self, uploads), context, attempt))
        }
    }

    /// All that an exchange begins with.
    struct Ready: ~Copyable {
        let message: Connection.Message
        let lease: Lease
    }

    /// What must be waited for first. Most exchanges have none, and one wait here costs them less room than several.
    enum Errand: ~Copyable {
        case file(RequestBody.File)
        case connection(Connection.Message, Connector.Beginning)
        case turn(Connection.Message, Pool.Place)
    }

    enum Preparation: ~Copyable {
        case ready(Ready)
        case errand(Errand)
    }

    /// The hot path: nothing needs to be waited for, because a connection is idle and still quiet, or open at once.
    private func prepare(
        _ context: ExchangeContext, _ uploads: UploadScope?, _ attempt: inout Attempt
    ) throws -> Preparation {
        if case .file(let body) = context.request.body.content { return .errand(.file(body)) }
        return try lease(for: try encode(context.request, nil, uploads, context, attempt), context, &attempt)
    }

    @inline(never)
    func run(
        _ errand: consuming Errand, _ uploads: UploadScope?, _ context: ExchangeContext, _ attempt: inout Attempt
    ) async throws -> Ready {
        while true {
            let preparation: Preparation
            switch consume errand {
            case .file(let body):
                let file = try await open(body, context, attempt)
                let message = try encode(context.request, file, uploads, context, attempt)
                preparation = try lease(for: message, context, &attempt)
            case .connection(let message, let beginning):
                return Ready(message: message, lease: try await finishOpening(beginning, context, &attempt))
            case .turn(let message, let place):
                if let lease = try await wait(in: place, context, &attempt) {
                    return Ready(message: message, lease: lease)
                }
                preparation = try lease(for: message, context, &attempt)
            }
            switch consume preparation {
            case .ready(let ready): return ready
            case .errand(let next): errand = next
            }
        }
    }
}

// MARK: - Encoding

extension SocketTransport {
    // Out of line, as all that never waits: its locals belong on the stack, not in the frame a waiting request keeps.
    @inline(never)
    private func encode(
        _ request: TransportRequest, _ file: FileSource?, _ uploads: UploadScope?, _ context: ExchangeContext,
        _ attempt: Attempt
    ) throws -> Connection.Message {
        do throws(WireError) {
            var opening: [UInt8] = []
            let framing = try framing(of: request.body, file)
            let room = min(framing.length, Self.smallBody)
            let traits = try RequestEncoder.encode(request.head, framing: framing, into: &opening, room: room)
            var rest: Connection.Rest?
            if UploadScope.isNeeded(for: request.body) || (traits.expectsContinue && framing.hasContent) {
                rest = Connection.Rest(file: file, uploads: uploads, expectsContinue: traits.expectsContinue)
            } else if case .bytes(let bytes) = request.body.content {
                bytes.withUnsafeBytes { opening.append(contentsOf: $0) }
            }
            return Connection.Message(opening: Bytes(opening), rest: rest, asksToClose: traits.asksToClose)
        } catch {
            throw context.error(.invalidRequest, "the request cannot be sent", .send, attempt, error)
        }
    }

    @inline(never)
    func checkScheme(_ context: ExchangeContext, _ attempt: Attempt) throws {
        guard context.origin.scheme == .http || context.advisor != nil else {
            throw context.error(.unsupportedScheme, "this transport has no TLS", .secure, attempt)
        }
    }

    private func framing(of body: RequestBody, _ file: FileSource?) throws(WireError) -> RequestFraming {
        if let trailers = body.trailers {
            // Their names are known: what may not be sent is refused while nothing has been.
            var (named, scratch) = (Fields(), [UInt8]())
            for name in trailers.names { named.append(name, "") }
            try ChunkEncoder.appendEnd(trailers: named, into: &scratch)
            return .chunked
        }
        switch body.content {
        case .none: return .none
        case .bytes(let bytes): return .length(bytes.count)
        case .file: return .length(file?.range.count ?? 0)
        case .stream(let length?, _, _): return .length(length)
        case .stream(nil, _, _): return .chunked
        }
    }

    /// Disks are waited for off the loop.
    @inline(never)
    private func open(
        _ body: RequestBody.File, _ context: ExchangeContext, _ attempt: Attempt
    ) async throws -> FileSource {
        do {
            return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
                try FileSource(body)
            }
        } catch let error as NetworkError {
            throw context.error(error.code, error.reason, .send, attempt, error.underlying)
        }
    }
}

// MARK: - Opening ahead of need

extension SocketTransport {
    /// How many connections to `origin` there are, those being opened included.
    public func openCount(to origin: Origin) -> Int { pool.openCount(to: origin) }

    /// Opens a connection for later to where `request` would go, unless `count` are open or the caps leave no room.
    public func openAhead(
        of request: TransportRequest, upTo count: Int, interrupt: Interrupt, on reactor: Reactor
    ) async throws {
        let context = ExchangeContext(request, interrupt, terms, since: reactor.now(), on: reactor)
        var attempt = Attempt()
        try checkScheme(context, attempt)
        guard pool.reserve(context.origin, upTo: count) else { return }
        let lease = try await open(context, &attempt)
        // Nothing will be sent for now that the handshake's last message could travel with.
        let writer = RequestWriter(context: context, stream: lease.connection.stream)
        try await writer.write(.empty, &attempt)
        lease.giveBack(at: reactor.now())
    }
}

extension RequestFraming {
    /// Zero where it is not known.
    fileprivate var length: Int { if case .length(let length) = self { length } else { 0 } }

    fileprivate var hasContent: Bool {
        switch self {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }
}
