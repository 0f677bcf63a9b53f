public import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// A value that changes, for those who want to read the newest whenever there is news.
public final class Bulletin<Value: Sendable & Equatable>: Sendable {
    private struct State {
        var value: Value
        /// Counts the changes.
        var version: UInt64 = 0
        var readers: [Parking<Void>] = []
    }

    private let reactor: Reactor
    private let state: Mutex<State>

    public init(_ value: Value, on reactor: Reactor) {
        self.reactor = reactor
        state = Mutex(State(value: value))
    }

    public var value: Value { state.withLock { $0.value } }

    /// The value before and after, if it is another now.
    @inline(__always) @discardableResult
    public func change(_ change: (inout Value) -> Void) -> (before: Value, after: Value)? {
        var readers: [Parking<Void>] = []
        let news = state.withLock { state -> (Value, Value)? in
            let before = state.value
            change(&state.value)
            if state.value == before { return nil }
            state.version += 1
            if !state.readers.isEmpty { swap(&readers, &state.readers) }
            return (before, state.value)
        }
        for reader in readers { _ = reader.deliver(()) }
        return news
    }

    /// The value once it is another than that of `version`, with its own version; at once for a version of nil. Nil
    /// when the awaiting task is cancelled.
    public func value(after version: UInt64?) async -> (value: Value, version: UInt64)? {
        while !Task.isCancelled {
            let parking = Parking<Void>(on: reactor)
            let news = state.withLock { state -> (Value, UInt64)? in
                guard state.version == version else { return (state.value, state.version) }
                state.readers.append(parking)
                return nil
            }
            if let news { return news }
            await withTaskCancellationHandler {
                _ = await parking.wait(until: .never, interrupt: nil)
            } onCancel: {
                parking.interrupt()
            }
            state.withLock { $0.readers.removeAll { $0 === parking } }
        }
        return nil
    }
}
