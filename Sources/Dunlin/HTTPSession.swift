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
    public let configuration: Configuration
    /// Every request of this session that is running.
    public let tasks: TaskRegistry
    let builder: RequestBuilder
    let decoding: Decoding
    let loops: [Reactor]
    let advisor: SessionAdvisor
    let hub: EventHub
    let journals = Journals()
    private let telling = ReachabilityTelling()
    /// Nil without limits.
    let queue: RequestQueue?
    private let nextLoop = Atomic<Int>(0)

    /// Throws `NetworkError` with code `invalidConfiguration` for settings that contradict themselves, and the
    /// system's error when it has no thread or descriptor left for a loop.
    public init(_ configuration: Configuration = Configuration()) throws {
        self.configuration = configuration
        builder = try RequestBuilder(configuration)
        let warnings = SecurityWarnings(configuration.onWarning)
        advisor = try SessionAdvisor(configuration, builder.clearText, warnings)
        loops = try configuration.loops ?? ReactorGroup.shared.reactors()
        decoding = Decoding(configuration.limits, configuration.codecs)
        hub = EventHub(always: configuration.hooks.isSet || configuration.queue.isSet)
        queue = configuration.queue.isSet ? RequestQueue(configuration.queue, on: loops[0]) : nil
        tasks = TaskRegistry(Chain(configuration, builder, on: loops[0], advisor), on: loops)
        if let warning = configuration.redirects.warning { warnings.note(warning) }
        configuration.tls.warnings.forEach(warnings.note)
    }

    /// Runs `operation` on one of the session's own loops, together with the child tasks it starts: a request made
    /// there needs no thread hop.
    ///
    /// Say `@concurrent` where the closure would otherwise belong to an actor; on an actor there is nothing to gain.
    /// What it computes for long keeps other requests waiting.
    public func withExecutor<Value: Sendable>(
        _ operation: @concurrent @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTaskExecutorPreference(loop, operation: operation)
    }

    /// The loop the caller is on, or the next in turn.
    var loop: Reactor { book.loop }

    /// Of that loop.
    var book: TaskBook {
        let books = tasks.books
        if let here = books.first(where: { $0.loop.isCurrent }) { return here }
        let turn = books.count == 1 ? 0 : nextLoop.add(1, ordering: .relaxed).oldValue
        return books[Int(UInt(bitPattern: turn) % UInt(books.count))]
    }

    /// Whether the session takes no more requests.
    public var isClosed: Bool { tasks.isClosed }

    /// What happens to the requests of this session from now on, until it is shut down. For any number of listeners;
    /// one who does not keep up gets the newest 256 of what happened meanwhile.
    ///
    /// Requests that began unheeded are not told of.
    public var events: AsyncStream<Event> { events(keeping: 256) }

    /// The same, keeping as many events as `capacity` says for a listener who is busy.
    public func events(keeping capacity: Int) -> AsyncStream<Event> {
        let events = hub.listen(keeping: capacity)
        if configuration.tellsReachability, !isClosed { telling.begin(with: configuration.reachability, to: hub) }
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
        if grace > .zero { await tasks.drain(until: loops[0].now().advanced(by: grace.clampedNanoseconds)) }
        await journals.close()
        let cancelled = await tasks.cancelAll()
        // Not the present one, which may be of a restart meanwhile.
        await chain.carrier.sockets?.close()
        // The hook may shut down what has been: it is told of that no second time.
        let telling = Enclosure.Subject.invalidation(of: ObjectIdentifier(self))
        if let invalidated = configuration.hooks.invalidated, !Enclosure.contains(telling) {
            await Enclosure.enter(telling) { await invalidated() }
        }
        await self.telling.end()
        hub.tell(.invalidated)
        hub.end()
        return cancelled
    }

    /// Shuts the session down and opens it again with the same configuration: no connection, name or TLS session of
    /// before is used any more. Requests made until it returns fail with `NetworkError` code `sessionClosed`.
    @discardableResult
    public func restart(grace: Duration = .zero) async -> Int {
        let cancelled = await shutdown(grace: grace)
        tasks.open(Chain(configuration, builder, on: loops[0], advisor))
        journals.reopen()
        return cancelled
    }
}
