internal import DunlinCache
internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport
public import FoundationEssentials
internal import Synchronization

extension HTTPSession {
    /// Creates a session. Throws a `NetworkError` with code `invalidConfiguration` if settings contradict each other,
    /// and the system's error if it has no thread or descriptor left for a loop.
    public convenience init(_ configuration: Configuration = Configuration()) throws {
        let builder = try RequestBuilder(configuration)
        let warnings = builder.basic.warnings
        let tlsPolicySources = try TLSPolicySources(configuration, builder.clearText, warnings)
        let loops = try configuration.loops ?? ReactorGroup.shared.reactors()
        let authentication = Chain.authentication(configuration, builder, at: loops[0].now())
        let owner = Owner.session()
        self.init(
            SessionCore(
                configuration, builder, tlsPolicySources, on: loops, authentication: authentication,
                chain: Chain(
                    configuration, builder, on: loops[0], tlsPolicySources, authentication: authentication, of: owner),
                owner))
        if let warning = configuration.redirects.warning { warnings.note(warning) }
        (configuration.tls.warnings + configuration.proxyTLS.warnings).forEach(warnings.note)
    }

    /// Creates a session with changes to the default configuration:
    ///
    /// ```swift
    /// let client = try HTTPSession { $0.timeouts.total = .seconds(20) }
    /// ```
    public convenience init(_ change: (inout Configuration) throws -> Void) throws {
        var configuration = Configuration()
        try change(&configuration)
        try self.init(configuration)
    }

    /// Creates a session with a base URL for relative targets, and changes to the default configuration:
    ///
    /// ```swift
    /// let client = try HTTPSession(baseURL: "https://api.example.com/v1/") { $0.timeouts.total = .seconds(20) }
    /// ```
    public convenience init(baseURL: String, _ change: (inout Configuration) throws -> Void = { _ in }) throws {
        var configuration = Configuration(baseURL: baseURL)
        try change(&configuration)
        try self.init(configuration)
    }

    /// Creates a session with a base URL of type `URL`.
    public convenience init(baseURL: URL, _ change: (inout Configuration) throws -> Void = { _ in }) throws {
        try self.init(baseURL: baseURL.absoluteString, change)
    }

    public var configuration: Configuration { core.configuration }

    /// The running requests of this session.
    public var tasks: TaskRegistry { core.tasks }

    /// Runs `operation` on one of the session's own loops, together with its child tasks, so that requests made there
    /// need no change of thread.
    ///
    /// Mark the closure `@concurrent` if it would otherwise be isolated to an actor, where it would gain nothing. Long
    /// computations in it delay other requests.
    public func onEventLoop<Value: Sendable>(
        _ operation: @concurrent @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTaskExecutorPreference(core.loop, operation: operation)
    }

    /// Whether the session accepts no more requests.
    public var isShutDown: Bool { tasks.isClosed }

    /// The events of this session's requests from now on, until it is shut down. Any number of observers is allowed; a
    /// slow one gets only the newest 256 events.
    ///
    /// Requests that began before there was an observer are not reported.
    public var events: AsyncStream<Event> { events(bufferingNewest: 256) }

    /// Returns the session's events, of which the newest `capacity` are buffered for a busy observer.
    public func events(bufferingNewest capacity: Int) -> AsyncStream<Event> {
        let events = core.hub.observe(bufferingNewest: capacity)
        if core.configuration.emitsReachabilityEvents, !isShutDown {
            core.hub.report(core.configuration.reachability)
        }
        return events
    }

    /// Ends the session: it accepts no new requests, waits up to `grace` for running ones, cancels the rest, and closes
    /// all connections. Returns the number of cancelled requests, when the last of them has ended. If there is a grace,
    /// open WebSockets are closed with the code `goingAway`, and have it for their closing handshakes.
    ///
    /// Requests made afterwards fail with `NetworkError` code `sessionShutDown`. Calling it again has no effect.
    ///
    /// If called within a request (in one of its hooks or a stream's scope), it excludes that request, which is neither
    /// counted nor waited for. It continues on its connection, but fails with code `sessionShutDown` if it needs
    /// another, for a redirect or a retry. Nor does it wait, within a request or a refresh, for requests whose own code
    /// waits in such a call, of whatever session. If the awaiting task is cancelled, all requests are cancelled at
    /// once, and it returns without waiting for their end.
    ///
    /// Requests of the session itself that update its cache are waited for like others, and not counted. Responses that
    /// its cache has still to write are waited for as long as `grace`, and at least two seconds. A refresh of the
    /// session's `authentication` is ended too, and waited for unless it made this call, or one of a later session did.
    @discardableResult
    public func shutdown(grace: Duration = .zero) async -> Int {
        let closing = await tasks.close()
        return await end(closing, grace: grace)
    }

    /// Ends what belongs to a closing. An earlier closing does not end requests, refreshes and observers that came
    /// after a restart had opened the session.
    private func end(_ closing: TaskRegistry.Closing, grace: Duration) async -> Int {
        // Nor does anybody wait meanwhile for a request whose code waits here for something other than requests.
        await Enclosure.waiting { _ in await endAll(closing, grace: grace) }
    }

    private func endAll(_ closing: TaskRegistry.Closing, grace: Duration) async -> Int {
        let number = closing.number
        if grace > .zero {
            let end = core.loops[0].now().advanced(by: grace.clampedNanoseconds)
            await core.residents.announce(number)
            await tasks.waitUntilEmpty(until: end, upTo: closing.era)
        }
        var cancelled = 0
        if !core.residents.isOver(number) {
            // Before all others, so that each resident's work counts as left and not as cancelled.
            let left = core.residents.stop(number)
            cancelled = await tasks.cancelAll(
                of: closing, uncounted: core.background.close(number).union(left))
            await core.residents.close(number)
        }
        await endRefreshes(number)
        await endStores(grace)
        // Not the current transport, which may belong to a restart meanwhile.
        await closing.chain.callTransport.sockets?.close()
        // The hook may shut the session down again; it is not told a second time then.
        let subject = Enclosure.Subject.shutDown(of: ObjectIdentifier(core))
        if !core.residents.isOver(number), let shutDown = core.configuration.hooks.shutDown,
            !Enclosure.contains(subject)
        {
            await Enclosure.enter(subject, of: nil) { await shutDown() }
        }
        if let reporting = unlessOver(number, { core.hub.takeReachabilityTask() }) {
            reporting.cancel()
            await reporting.value
        }
        if let ending = unlessOver(number, { core.hub.noteEnd(after: .shutDown) }) { core.hub.tell(ending) }
        closing.chain.end.cancel(.handle)
        return cancelled
    }

    /// Runs `end`, which must not call out, unless the session was reopened since that closing: what has come since
    /// belongs to the open session.
    private func unlessOver<Value>(_ closing: UInt64, _ end: () -> Value?) -> Value? {
        tasks.withoutOpening { core.residents.isOver(closing) ? nil : end() }
    }

    /// Waits until the cache has written this session's responses, and those that other sessions have given it until
    /// then. The limit is `grace`, but at least as long as a request would wait for a disk.
    private func endStores(_ grace: Duration) async {
        let loop = core.loops[0]
        let limit = max(grace, StoreWait.limit)
        await core.configuration.cache?.store.written(
            within: StoreWait(
                loop: loop, deadline: loop.now().advanced(by: limit.clampedNanoseconds), total: nil,
                cancellation: nil))
    }

    private func endRefreshes(_ closing: UInt64) async {
        if core.isRefreshing { return }
        for case let stage as AuthenticatorStage in core.authentication where !core.residents.isOver(closing) {
            await stage.driver.endRefreshes(on: core.loops[0], isAwaited: core.owner.mayBeAwaitedByRefreshes)
        }
    }

    /// Shuts the session down and reopens it with the same configuration. Earlier connections, addresses and TLS
    /// sessions are no longer used. Requests made before it returns fail with `NetworkError` code `sessionShutDown`; it
    /// waits for a cache's writer as `shutdown` does. If the session is shut down meanwhile, it stays closed.
    @discardableResult
    public func restart(grace: Duration = .zero) async -> Int {
        let closing = await tasks.close()
        let cancelled = await end(closing, grace: grace)
        let next = Chain(
            core.configuration, core.builder, on: core.loops[0], core.tlsPolicySources,
            authentication: core.authentication, of: core.owner)
        // If it was closed again meanwhile, that closing decides whether the session reopens.
        tasks.open(next, after: closing.number) {
            core.residents.reopen(after: closing.number)
            core.background.reopen(after: closing.number)
        }
        return cancelled
    }
}
