internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// Makes HTTP requests and owns what they share: connections, defaults, and the list of what is running.
///
/// ```swift
/// let client = try HTTPSession(.init(baseURL: "https://api.example.com/v1"))
/// let user = try await client.get("users/42", as: User.self)
/// ```
///
/// A session may be used from any task. Dropping the last reference closes its idle connections; requests that are
/// still running keep what they need until they are done. `shutdown()` ends it sooner and waits for the end.
public final class HTTPSession: Sendable {
    /// What its requests share.
    package let core: SessionCore
    private let reachabilityReporter = ReachabilityReporter()

    /// Throws `NetworkError` with code `invalidConfiguration` for settings that contradict themselves, and the
    /// system's error when it has no thread or descriptor left for a loop.
    public init(_ configuration: Configuration = Configuration()) throws {
        let builder = try RequestBuilder(configuration)
        let warnings = SecurityWarnings(configuration.securityWarningHandler)
        let tlsPolicySource = try SessionTLSPolicySource(
            configuration.tls, configuration.authenticationHandler, baseURL: configuration.baseURL, builder.clearText,
            warnings)
        let loops = try configuration.loops ?? ReactorGroup.shared.reactors()
        core = SessionCore(
            configuration, builder, tlsPolicySource, on: loops,
            chain: Chain(configuration, builder, on: loops[0], tlsPolicySource))
        if let warning = configuration.redirects.warning { warnings.note(warning) }
        configuration.tls.warnings.forEach(warnings.note)
    }

    public var configuration: Configuration { core.configuration }

    /// Every request of this session that is running.
    public var tasks: TaskRegistry { core.tasks }

    /// Runs `operation` on one of the session's own loops, together with the child tasks it starts: a request made
    /// there needs no thread hop.
    ///
    /// Say `@concurrent` where the closure would otherwise belong to an actor; on an actor there is nothing to gain.
    /// What it computes for long keeps other requests waiting.
    public func onEventLoop<Value: Sendable>(
        _ operation: @concurrent @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTaskExecutorPreference(core.loop, operation: operation)
    }

    /// Whether the session takes no more requests.
    public var isClosed: Bool { tasks.isClosed }

    /// What happens to the requests of this session from now on, until it is shut down. For any number of listeners;
    /// one who does not keep up gets the newest 256 of what happened meanwhile.
    ///
    /// Requests that began unheeded are not told of.
    public var events: AsyncStream<Event> { events(bufferingNewest: 256) }

    /// The same, keeping as many events as `capacity` says for a listener who is busy.
    public func events(bufferingNewest capacity: Int) -> AsyncStream<Event> {
        let events = core.hub.listen(keeping: capacity)
        if core.configuration.emitsReachabilityEvents, !isClosed {
            reachabilityReporter.begin(with: core.configuration.reachability, to: core.hub)
        }
        return events
    }

    /// Ends the session: takes no new requests, gives running ones until `grace` is over, cancels the rest, closes all
    /// connections. Returns how many requests had to be cancelled, once the last of them has ended.
    ///
    /// Requests made afterwards fail with `NetworkError` code `sessionClosed`. Calling it again is harmless.
    ///
    /// Within a request, in a hook of its or in a stream's scope, it leaves that out: the request is not counted and
    /// not waited for, and goes on over the connection it has; where it needs another, for a redirect or a retry, it
    /// fails with code `sessionClosed`. Nor are others waited for that shut down or wait like this within theirs. When
    /// the awaiting task is cancelled, no grace is given and nothing more is waited for: what runs is cancelled, and
    /// ends by itself.
    @discardableResult
    public func shutdown(grace: Duration = .zero) async -> Int {
        let chain = await tasks.close()
        if grace > .zero { await tasks.drain(until: core.loops[0].now().advanced(by: grace.clampedNanoseconds)) }
        await core.residents.close()
        let cancelled = await tasks.cancelAll()
        // Not the present one, which may be of a restart meanwhile.
        await chain.callTransport.sockets?.close()
        // The hook may shut down what has been: it is told of that no second time.
        let telling = Enclosure.Subject.invalidation(of: ObjectIdentifier(core))
        if let invalidated = core.configuration.hooks.invalidated, !Enclosure.contains(telling) {
            await Enclosure.enter(telling) { await invalidated() }
        }
        await self.reachabilityReporter.end()
        core.hub.tell(.invalidated)
        core.hub.end()
        return cancelled
    }

    /// Shuts the session down and opens it again with the same configuration: no connection, name or TLS session of
    /// before is used any more. Requests made until it returns fail with `NetworkError` code `sessionClosed`.
    @discardableResult
    public func restart(grace: Duration = .zero) async -> Int {
        let cancelled = await shutdown(grace: grace)
        tasks.open(Chain(core.configuration, core.builder, on: core.loops[0], core.tlsPolicySource))
        core.residents.reopen()
        return cancelled
    }
}
