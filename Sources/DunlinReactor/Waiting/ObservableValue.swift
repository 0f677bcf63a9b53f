public import DunlinTypes
public import Synchronization

/// A value that changes, for those who want to read the newest state whenever it has changed.
public final class ObservableValue<Value: Sendable & Equatable>: Sendable {
    @usableFromInline struct State {
        @usableFromInline var value: Value
        /// Counts the changes.
        @usableFromInline var version: UInt64 = 0
        /// The readers that wait for any change.
        @usableFromInline var readers: [ValueWaiter<Void>] = []
        /// The readers that wait for the last change only.
        @usableFromInline var sleepers: [ValueWaiter<Void>] = []
        /// Whether no change follows.
        @usableFromInline var isLast = false

        @inlinable init(value: Value) { self.value = value }
    }

    private let reactor: Reactor
    @usableFromInline let state: Mutex<State>

    public init(_ value: Value, on reactor: Reactor) {
        self.reactor = reactor
        state = Mutex(State(value: value))
    }

    public var value: Value { state.withLock { $0.value } }

    /// Changes the value. Returns it before and after, if it has changed. The last change is told to all readers.
    // Inlined into other modules: a transfer is counted by it, and there it costs a third with its type known.
    @inlinable @inline(__always) @discardableResult
    public func change(isLast: Bool = false, _ change: (inout Value) -> Void) -> (before: Value, after: Value)? {
        var readers: [ValueWaiter<Void>] = []
        let news = state.withLock { state -> (Value, Value)? in
            let before = state.value
            change(&state.value)
            if state.value == before { return nil }
            state.version += 1
            if !state.readers.isEmpty { swap(&readers, &state.readers) }
            if isLast {
                state.isLast = true
                readers += state.sleepers
                state.sleepers = []
            }
            return (before, state.value)
        }
        for reader in readers { _ = reader.deliver(()) }
        return news
    }

    /// The value once it differs from that of `version`, with its own version; at once for a version of nil. Before
    /// `time` only the last change is reported. Nil when the awaiting task is cancelled.
    public func value(
        after version: UInt64?, notBefore time: HTTP.Instant = HTTP.Instant(nanoseconds: 0)
    ) async -> (value: Value, version: UInt64)? {
        while !Task.isCancelled {
            let waiter = ValueWaiter<Void>(on: reactor)
            let isEarly = reactor.now() < time
            let news = state.withLock { state -> (Value, UInt64)? in
                if isEarly, !state.isLast {
                    state.sleepers.append(waiter)
                    return nil
                }
                guard state.version == version else { return (state.value, state.version) }
                state.readers.append(waiter)
                return nil
            }
            if let news { return news }
            await withTaskCancellationHandler {
                _ = await waiter.wait(until: isEarly ? time : .never, cancellation: nil)
            } onCancel: {
                waiter.cancel()
            }
            state.withLock { state in
                state.readers.removeAll { $0 === waiter }
                state.sleepers.removeAll { $0 === waiter }
            }
        }
        return nil
    }
}
