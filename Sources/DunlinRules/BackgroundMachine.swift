/// Decides which calls a session may make for itself, and how much they may bring.
///
/// Rules:
/// 1. There is at most one call for each key, and a limited number in all.
/// 2. All running calls together may bring a limited number of bytes. The call that would exceed it is given up.
/// 3. Once closed, it begins no calls until it is opened again. A closing has no effect if a later one was already
///    followed by an opening.
package struct BackgroundMachine<Key: Hashable, Call: Hashable> {
    package struct Limits: Sendable {
        package var calls: Int
        package var bytes: Int

        package init(calls: Int = 16, bytes: Int = 64 << 20) {
            (self.calls, self.bytes) = (calls, bytes)
        }
    }

    /// Why a call may not begin.
    package enum Refusal: Sendable {
        case closed
        /// One for the same key is running.
        case sameKey
        /// As many as the limit allows are running.
        case full
    }

    private struct Running {
        let call: Call
        var bytes = 0
    }

    private let limits: Limits
    private var running: [Key: Running] = [:]
    /// The bytes of all running calls.
    private var bytes = 0
    private var closings = Closings()

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    package func mayBegin(_ key: Key) -> Bool { refusal(of: key) == nil }

    private func refusal(of key: Key) -> Refusal? {
        if closings.isClosed { return .closed }
        if running[key] != nil { return .sameKey }
        return running.count < limits.calls ? nil : .full
    }

    /// Begins a call. Returns why not if it is not allowed.
    package mutating func begin(_ key: Key, _ call: Call) -> Refusal? {
        if let refusal = refusal(of: key) { return refusal }
        running[key] = Running(call: call)
        return nil
    }

    /// Counts bytes of a call's body. Returns false if the call must be given up.
    package mutating func received(_ count: Int, _ key: Key) -> Bool {
        guard running[key] != nil, count <= limits.bytes - bytes else { return false }
        running[key]?.bytes += count
        bytes += count
        return true
    }

    package mutating func end(_ key: Key) {
        bytes -= running.removeValue(forKey: key)?.bytes ?? 0
    }

    /// Closes. Returns the running calls.
    package mutating func close(_ closing: UInt64) -> Set<Call> {
        _ = closings.close(closing)
        return Set(running.values.lazy.map(\.call))
    }

    package mutating func reopen(after closing: UInt64) { closings.open(after: closing) }
}
