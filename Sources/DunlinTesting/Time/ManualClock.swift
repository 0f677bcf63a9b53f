internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// A clock that stands still until a test moves it.
///
/// It is an ordinary `Clock`, and with `HTTPSession.Configuration.use(_:)` a session uses it: real sockets then time
/// out only when the clock is moved.
///
/// ```swift
/// let clock = ManualClock()
/// var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
/// try configuration.use(clock)
/// async let answer = HTTPSession(configuration).get("slow", as: .string)
/// _ = try await server.nextRequest()
/// try await clock.advance(by: .seconds(61))
/// ```
///
/// **Before a test moves the clock,** it must know that the wait it means has begun, since a later wait counts from the
/// new time. `advance(by:)` first lets a session's loop finish its work, so it is enough to know that the request has
/// come to where it waits, for instance that the server has read it. Use `waitForSleepers(_:)` for tasks that sleep on
/// the clock, and `waitForDeadlines(_:)` for waits on sockets.
public final class ManualClock: Clock, Sendable {
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock was created.
        public let offset: Duration

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func + (left: Instant, right: Duration) -> Instant { left.advanced(by: right) }
        public static func - (left: Instant, right: Duration) -> Instant { left.advanced(by: .zero - right) }
        public static func - (left: Instant, right: Instant) -> Duration { right.duration(to: left) }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
        public var description: String { "\(offset)" }
    }

    private typealias Sleeper = CheckedContinuation<Bool, Never>

    private struct WeakLoop {
        weak let reactor: Reactor?
    }

    let time = ManualTime()
    private let start: Int64
    private let sleepers = Mutex(SleepMachine<Sleeper>())
    private let loops = Mutex<[WeakLoop]>([])
    let changes = LoopbackServer.Broadcast()
    private let standstill: Standstill
    /// Awaited instead of the loops' rest, in tests of the clock itself.
    private let rest: (@Sendable () async throws -> Void)?

    /// Creates a clock. If a test forgets to move it, it prints what waits, and until when, on the standard error
    /// stream after five seconds of real time.
    public convenience init() {
        self.init(Standstill())
    }

    init(_ standstill: Standstill, rest: (@Sendable () async throws -> Void)? = nil) {
        self.standstill = standstill
        self.rest = rest
        start = time.now.nanoseconds
    }

    private func observeStandstill() {
        standstill.begin { [weak self] in self?.waiting.map { (waiting: $0.0, now: $0.1) } }
    }

    /// What waits for the clock to be moved.
    private var waiting: (String, Duration)? {
        let (count, wake) = (sleepers.withLock { $0.count }, earliestWake)
        guard let wake else { return nil }
        let retries = time.pauses.count
        let who = [
            count > 0 ? "\(count) \(count == 1 ? "task" : "tasks")" : nil,
            retries > 0 ? "\(retries) \(retries == 1 ? "request" : "requests") to be tried again" : nil,
        ].compactMap(\.self).joined(separator: " and ")
        return ("\(who), until \(wake)", now.offset)
    }

    public var now: Instant { Instant(offset: .nanoseconds(time.now.nanoseconds - start)) }

    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Returns when the clock has been moved to `deadline`. Throws `CancellationError` as soon as the task is
    /// cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = sleepers.withLock { $0.begin() }
        let isCancelled = await withTaskCancellationHandler {
            await withCheckedContinuation { addSleeper($0, id, until: deadline.offset) }
        } onCancel: {
            sleepers.withLock { $0.cancel(id) }?.resume(returning: true)
            changes.announce()
        }
        if isCancelled { throw CancellationError() }
    }

    private func addSleeper(_ sleeper: Sleeper, _ id: UInt64, until deadline: Duration) {
        // The time is read under the lock, so that a later move finds the sleeper.
        switch sleepers.withLock({ $0.sleep(id, until: deadline, at: now.offset, sleeper) }) {
        case .sleep:
            changes.announce()
            observeStandstill()
        case .wake(let sleeper, let isCancelled): sleeper.resume(returning: isCancelled)
        }
    }
}

extension ManualClock {
    /// Moves the clock in one step. First, every loop that uses it finishes its work; afterwards, all sleepers whose
    /// time has come have been woken.
    ///
    /// Throws if a loop does not come to rest within five minutes of real time.
    public func advance(by duration: Duration) async throws {
        try await settle()
        time.advance(by: duration.clampedNanoseconds)
        for sleeper in sleepers.withLock({ $0.wake(at: now.offset) }) { sleeper.resume(returning: false) }
        changes.announce()
        try await settle()
    }

    /// Runs `operation`. Whenever a task sleeps on the clock or a request waits for its next attempt, moves the clock
    /// to where the first of them continues, so that waits take no time.
    ///
    /// Deadlines of a session that uses the clock fire as they are passed. If the clock could not be moved, throws that
    /// error instead of the result of `operation`.
    public func skippingWaits<Value: Sendable>(_ operation: () async throws -> Value) async throws -> Value {
        let mover = Task { await skipWaits() }
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
        mover.cancel()
        // A mover that still ran would move the clock for later sleepers.
        if let failure = await mover.value { throw failure }
        return try outcome.get()
    }

    /// Moves the clock until the task is cancelled. Returns the first error that prevented a move. It continues after
    /// an error, since sleepers would otherwise never be woken.
    private func skipWaits() async -> (any Error)? {
        var failure: (any Error)?
        while true {
            do {
                let wake = try await changes.first { self.earliestWake }
                try Task.checkCancellation()
                try await advance(by: max(wake - now.offset, .zero))
            } catch is CancellationError {
                return failure
            } catch {
                failure = failure ?? error
            }
        }
    }

    private var earliestWake: Duration? {
        let pause = time.pauses.min().map { Duration.nanoseconds($0.nanoseconds - start) }
        return [sleepers.withLock { $0.earliest }, pause].compactMap(\.self).min()
    }

    /// Until when each request waits that waits for nothing else: for its next attempt, or its turn.
    package var requestWaits: [Instant] {
        time.pauses.map { Instant(offset: .nanoseconds($0.nanoseconds - start)) }
    }

    /// How many tasks sleep on the clock.
    package var sleeping: Int { sleepers.withLock { $0.count } }

    /// Waits until at least `count` requests wait for their next attempt, on loops that use the clock.
    public func waitForRetries(_ count: Int = 1, within limit: Duration = .patience) async throws {
        try await changes.first(within: limit, { "retry number \(count)" }) { [self] in
            time.pauses.count >= count ? () : nil
        }
    }

    /// Waits until at least `count` tasks sleep on the clock.
    public func waitForSleepers(_ count: Int = 1, within limit: Duration = .patience) async throws {
        try await changes.first(within: limit, { "sleeper number \(count)" }) { [self] in
            sleepers.withLock { $0.count } >= count ? () : nil
        }
    }

    private func settle() async throws {
        if let rest { return try await rest() }
        try await changes.first(within: .patience, { "the loop's rest" }) { [self] in
            reactors.allSatisfy(\.isResting) ? () : nil
        }
    }

    var reactors: [Reactor] { loops.withLock { $0.compactMap(\.reactor) } }

    /// Makes the loop use the clock; its turns count as changes of the clock.
    func adopt(_ reactor: Reactor) {
        loops.withLock { $0.append(WeakLoop(reactor: reactor)) }
        reactor.observeTurns { [changes, weak self] in
            changes.announce()
            if let self, !time.pauses.isEmpty { observeStandstill() }
        }
    }
}
