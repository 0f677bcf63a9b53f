internal import CEpoll  // which of the two gives timespec depends on what the compiler reads first
public import DunlinTypes
internal import Glibc
internal import Synchronization

/// The source of a loop's time.
public enum TimeSource: Sendable {
    case monotonic
    /// A clock that stands still until somebody moves it: deadlines of sockets pass when a test says so.
    case manual(ManualTime)

    var isManual: Bool {
        switch self {
        case .monotonic: false
        case .manual: true
        }
    }

    public func now() -> HTTP.Instant {
        switch self {
        case .monotonic:
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return HTTP.Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
        case .manual(let time):
            return time.now
        }
    }
}

/// A clock that moves when told to, and wakes the loops that use it.
public final class ManualTime: Sendable {
    private struct State {
        var now = HTTP.Instant(nanoseconds: 1_000_000_000)
        var listeners: [@Sendable () -> Void] = []
        var pauses: [UInt64: HTTP.Instant] = [:]
        var lastPause: UInt64 = 0
    }

    private let state = Mutex(State())

    public init() {}

    public var now: HTTP.Instant { state.withLock { $0.now } }

    public func advance(by nanoseconds: Int64) {
        let listeners = state.withLock { state in
            state.now = state.now.advanced(by: nanoseconds)
            return state.listeners
        }
        for listener in listeners { listener() }
    }

    /// `listener` is called after every move, on the mover's thread.
    public func listen(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }

    /// The times at which tasks continue that only pause, and wait for nothing else.
    package var pauses: [HTTP.Instant] {
        state.withLock { state in state.pauses.values.filter { $0 > state.now } }
    }

    func beginPause(until end: HTTP.Instant) -> UInt64 {
        state.withLock { state in
            state.lastPause += 1
            state.pauses[state.lastPause] = end
            return state.lastPause
        }
    }

    func endPause(_ id: UInt64) {
        state.withLock { $0.pauses[id] = nil }
    }
}
