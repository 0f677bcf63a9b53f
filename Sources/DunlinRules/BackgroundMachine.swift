/// Which calls a session makes for itself, and how much they bring.
///
/// Rules:
/// 1. There is at most one call a key, and at most so many in all.
/// 2. All that run together bring at most so many bytes. The call that would bring more is given up.
/// 3. Once closed it begins none until it is opened again. A closing that comes after a later one was followed by
///    an opening closes nothing.
package struct BackgroundMachine<Key: Hashable, Call: Hashable> {
    package struct Limits: Sendable {
        package var calls: Int
        package var bytes: Int

        package init(calls: Int = 16, bytes: Int = 64 << 20) {
            (self.calls, self.bytes) = (calls, bytes)
        }
    }

    private struct Running {
        let call: Call
        var bytes = 0
    }

    private let limits: Limits
    private var running: [Key: Running] = [:]
    /// Of all that run.
    private var bytes = 0
    private var closings = Closings()

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    package func mayBegin(_ key: Key) -> Bool {
        !closings.isClosed && running[key] == nil && running.count < limits.calls
    }

    /// False if it may not.
    package mutating func begin(_ key: Key, _ call: Call) -> Bool {
        guard mayBegin(key) else { return false }
        running[key] = Running(call: call)
        return true
    }

    /// More bytes of a call's body. False if it is to be given up.
    package mutating func received(_ count: Int, _ key: Key) -> Bool {
        guard running[key] != nil, count <= limits.bytes - bytes else { return false }
        running[key]?.bytes += count
        bytes += count
        return true
    }

    package mutating func end(_ key: Key) {
        bytes -= running.removeValue(forKey: key)?.bytes ?? 0
    }

    /// Returns the calls that run.
    package mutating func close(_ closing: UInt64) -> Set<Call> {
        _ = closings.close(closing)
        return Set(running.values.lazy.map(\.call))
    }

    package mutating func reopen(after closing: UInt64) { closings.open(after: closing) }
}
