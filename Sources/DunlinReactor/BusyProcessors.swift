internal import CEpoll
internal import Synchronization

/// The processors on which something that takes a while is made of a response.
///
/// A loop that wakes there takes the processor away from that work, for one event, and for the next one again; left
/// alone a moment longer, it would find all of them at once. So it lets such work go on first. Elsewhere, and beside
/// other programs, a loop comes first as always.
public final class BusyProcessors: Sendable {
    public static let shared = BusyProcessors()

    // By number, modulo 64: a wrong guess costs a loop one system call. Where two works share a processor, the first
    // to end clears the mark of both.
    private let busy = Atomic<UInt64>(0)

    /// Marks a processor. What this returns must be handed to `end` when the work is done.
    public func begin(on processor: Int32 = current) -> UInt64 {
        let mark = Self.mark(processor)
        busy.bitwiseOr(mark, ordering: .relaxed)
        return mark
    }

    public func end(_ mark: UInt64) {
        busy.bitwiseAnd(~mark, ordering: .relaxed)
    }

    func include(_ processor: @autoclosure () -> Int32) -> Bool {
        let busy = busy.load(ordering: .relaxed)
        return busy != 0 && busy & Self.mark(processor()) != 0
    }

    /// The one the caller is on.
    public static var current: Int32 { dunlin_processor() }

    private static func mark(_ processor: Int32) -> UInt64 { 1 << UInt64(UInt32(bitPattern: processor) & 63) }
}
