internal import DunlinReactor
internal import DunlinTransport

/// The state of a session's connections at one moment.
public struct ConnectionGauges: Sendable, Hashable {
    /// Connections there are, those being opened included.
    public var open = 0
    /// Those that nobody uses.
    public var idle = 0
    /// Requests that wait for a connection.
    public var waiting = 0
    /// Connections opened since the session began.
    public var opened = 0
    /// How often a connection that was open already was given to a request, since the session began.
    public var reuses = 0

    public init() {}

    /// Those that a request uses or that are being opened.
    public var leased: Int { open - idle }
}

extension HTTPSession {
    /// How many connections there are and how many requests wait for one; zeros over a custom transport.
    public var connections: ConnectionGauges {
        var gauges = ConnectionGauges()
        guard let current = tasks.carrier.sockets?.gauges else { return gauges }
        gauges.open = current.open
        gauges.idle = current.idle
        gauges.waiting = current.waiting
        gauges.opened = current.opened
        gauges.reuses = current.reuses
        return gauges
    }

    /// Opens connections ahead of need, until `count` are open to where `target` leads, used or not; returns how many
    /// are. Zero over a custom transport.
    ///
    /// The caps of the configuration hold: it opens fewer when there is no room, closing none and outrunning no
    /// request. What it opens goes to requests that wait, or stays unused for as long as any other connection does.
    /// While they are being opened, connections show in `tasks` and are cancelled and counted by `shutdown` like
    /// requests. Of the options those count that say where, how and for how long to connect. Throws the first failure,
    /// once no opening runs any more; what was opened stays.
    @discardableResult
    public func prewarm(
        _ count: Int, to target: Target = "", options: Options = Options()
    ) async throws -> Int {
        var head = try builder.head(.connect, target, [:], .none, Fields(), nil)
        if let rare = options.rare { head.origin = try rare.routed(head.origin) }
        guard !tasks.isClosed else { throw NetworkError(.sessionClosed, "the session is shut down") }
        guard let sockets = tasks.carrier.sockets else { return 0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<max(0, min(count, configuration.connections.perOrigin, configuration.connections.total)) {
                let loop = loops[number % loops.count]
                let start = loop.now()
                let request = try request(head, .none, options, since: start)
                let delegate = delegate(.opening, .connect, target, options, at: start)
                group.addTask(executorPreference: loop) {
                    try await self.open(request, delegate, upTo: count, over: sockets, on: loop)
                }
            }
            try await group.waitForAll()
        }
        return sockets.openCount(to: head.origin)
    }

    private func open(
        _ request: TransportRequest, _ delegate: TaskDelegate, upTo count: Int, over sockets: SocketTransport,
        on loop: Reactor
    ) async throws {
        let place = try tasks.add(delegate).place
        do {
            guard delegate.begin() else { throw NetworkError(.cancelled, "the opening was cancelled") }
            try await withTaskCancellationHandler {
                try await Enclosure.enter(.request(delegate.id)) {
                    try await sockets.openAhead(of: request, upTo: count, interrupt: delegate.interrupt, on: loop)
                }
            } onCancel: {
                delegate.interrupt.cancel(.task)
            }
            delegate.end(.finished)
            tasks.remove(at: place, isRequest: false)
        } catch {
            delegate.end(error is CancellationError ? .cancelled : .failed)
            tasks.remove(at: place, isRequest: false)
            throw NetworkError.explained(error, at: request.head.origin)
        }
    }
}
