internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport
public import FoundationEssentials
internal import Synchronization

extension HTTPSession {
    /// Throws `NetworkError` with code `invalidConfiguration` for settings that contradict themselves, and the
    /// system's error when it has no thread or descriptor left for a loop.
    public convenience init(_ configuration: Configuration = Configuration()) throws {
        let builder = try RequestBuilder(configuration)
        let warnings = builder.basic.warnings
        let tlsPolicySources = try TLSPolicySources(configuration, builder.clearText, warnings)
        let loops = try configuration.loops ?? ReactorGroup.shared.reactors()
        let authentication = Chain.authentication(configuration, builder, at: loops[0].now())
        self.init(
            SessionCore(
                configuration, builder, tlsPolicySources, on: loops, authentication: authentication,
                chain: Chain(
                    configuration, builder, on: loops[0], tlsPolicySources, authentication: authentication)))
        if let warning = configuration.redirects.warning { warnings.note(warning) }
        (configuration.tls.warnings + configuration.proxyTLS.warnings).forEach(warnings.note)
    }

    /// A session of which only this is to be said:
    ///
    /// ```swift
    /// let client = try HTTPSession { $0.timeouts.total = .seconds(20) }
    /// ```
    public convenience init(_ change: (inout Configuration) throws -> Void) throws {
        var configuration = Configuration()
        try change(&configuration)
        try self.init(configuration)
    }

    /// A session whose relative targets are under a URL, with what else is to be said of it:
    ///
    /// ```swift
    /// let client = try HTTPSession(baseURL: "https://api.example.com/v1/") { $0.timeouts.total = .seconds(20) }
    /// ```
    public convenience init(baseURL: String, _ change: (inout Configuration) throws -> Void = { _ in }) throws {
        var configuration = Configuration(baseURL: baseURL)
        try change(&configuration)
        try self.init(configuration)
    }

    /// The same with a URL that is one already.
    public convenience init(baseURL: URL, _ change: (inout Configuration) throws -> Void = { _ in }) throws {
        try self.init(baseURL: baseURL.absoluteString, change)
    }

    public var configuration: Configuration { core.configuration }

    /// The running requests of this session.
    public var tasks: TaskRegistry { core.tasks }

    /// Runs `operation` on one of the session's own loops, together with the child tasks it starts: a request made
    /// there needs no thread hop.
    ///
    /// Mark the closure `@concurrent` where it would otherwise belong to an actor; on an actor there is nothing to
    /// gain. Long computations in it delay other requests.
    public func onEventLoop<Value: Sendable>(
        _ operation: @concurrent @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTaskExecutorPreference(core.loop, operation: operation)
    }

    /// Whether the session takes no more requests.
    public var isClosed: Bool { tasks.isClosed }

    /// What happens to the requests of this session from now on, until it is shut down. There may be any number of
    /// observers; one that does not keep up gets the newest 256 events.
    ///
    /// Requests that began before there was an observer are not reported.
    public var events: AsyncStream<Event> { events(bufferingNewest: 256) }

    /// The session's events, of which the newest `capacity` are kept for an observer that is busy.
    public func events(bufferingNewest capacity: Int) -> AsyncStream<Event> {
        let events = core.hub.observe(bufferingNewest: capacity)
        if core.configuration.emitsReachabilityEvents, !isClosed {
            core.reachabilityReporter.begin(with: core.configuration.reachability, to: core.hub)
        }
        return events
    }

    /// Ends the session: it takes no new requests, waits up to `grace` for running ones, cancels the rest, and closes
    /// all connections. Returns how many requests had to be cancelled, once the last of them has ended.
    ///
    /// Requests made afterwards fail with `NetworkError` code `sessionClosed`. Calling it again has no effect.
    ///
    /// Called within a request (in one of its hooks, or in a stream's scope), it leaves that request out: it is not
    /// counted and not waited for, and goes on over the connection it has; where it needs another, for a redirect or a
    /// retry, it fails with code `sessionClosed`. Nor are other requests waited for that shut down or wait like this
    /// themselves. When the awaiting task is cancelled, all requests are cancelled at once, and it returns without
    /// waiting for their end.
    ///
    /// What the session asks for itself to bring its cache up to date is waited for as requests are, and not counted.
    /// A refresh of the session's `authentication` is ended too, and waited for unless it is what called this.
    @discardableResult
    public func shutdown(grace: Duration = .zero) async -> Int {
        let closing = await tasks.close()
        return await end(closing, grace: grace)
    }

    /// An earlier closing does not end requests, refreshes and observers that came after a restart opened the session.
    private func end(_ closing: TaskRegistry.Closing, grace: Duration) async -> Int {
        let number = closing.number
        if grace > .zero {
            let end = core.loops[0].now().advanced(by: grace.clampedNanoseconds)
            await tasks.drain(until: end, upTo: closing.era)
        }
        var cancelled = 0
        if !core.residents.isOver(number) {
            // Before all others, so that it is known of each that it was left and not given up.
            let left = core.residents.stop(number)
            cancelled = await tasks.cancelAll(
                of: closing, uncounted: core.background.close(number).union(left))
            await core.residents.close(number)
        }
        await endRefreshes(number)
        // Not the present transport, which may belong to a restart meanwhile.
        await closing.chain.callTransport.sockets?.close()
        // The hook may shut the session down again, and is not told a second time then.
        let telling = Enclosure.Subject.invalidation(of: ObjectIdentifier(core))
        if !core.residents.isOver(number), let invalidated = core.configuration.hooks.invalidated,
            !Enclosure.contains(telling)
        {
            await Enclosure.enter(telling) { await invalidated() }
        }
        if let reporting = unlessOver(number, { core.reachabilityReporter.take() }) {
            reporting.cancel()
            await reporting.value
        }
        if let ending = unlessOver(number, { core.hub.noteEnd(after: .invalidated) }) { core.hub.tell(ending) }
        closing.chain.end.cancel(.handle)
        return cancelled
    }

    /// Ends something, without a call to anybody, unless the session was opened again since that closing: what has come
    /// since belongs to the open session.
    private func unlessOver<Value>(_ closing: UInt64, _ end: () -> Value?) -> Value? {
        tasks.withoutOpening { core.residents.isOver(closing) ? nil : end() }
    }

    private func endRefreshes(_ closing: UInt64) async {
        if Enclosure.isRefreshing(core) { return }
        for case let stage as AuthenticatorStage in core.authentication where !core.residents.isOver(closing) {
            await stage.source.endRefreshes(on: core.loops[0])
        }
    }

    /// Shuts the session down and opens it again with the same configuration: earlier connections, addresses and TLS
    /// sessions are not used any more. Requests made until it returns fail with `NetworkError` code `sessionClosed`. If
    /// the session is shut down meanwhile, it stays so.
    @discardableResult
    public func restart(grace: Duration = .zero) async -> Int {
        let closing = await tasks.close()
        let cancelled = await end(closing, grace: grace)
        let next = Chain(
            core.configuration, core.builder, on: core.loops[0], core.tlsPolicySources,
            authentication: core.authentication)
        // If it was closed once more meanwhile, it is for that closing whether the session opens again.
        tasks.open(next, after: closing.number) {
            core.residents.reopen(after: closing.number)
            core.background.reopen(after: closing.number)
        }
        return cancelled
    }
}
