import Glibc
import Synchronization

/// Processor time that went to a decoder within the calls it belongs to, on whichever threads.
public final class DecoderClock: Sendable {
    private let nanoseconds = Atomic<Int>(0)

    public init() {}

    public func time<Value>(_ decode: () throws -> Value) rethrows -> Value {
        let start = Self.now
        defer { nanoseconds.add(Self.now - start, ordering: .relaxed) }
        return try decode()
    }

    public var microseconds: Double { Double(nanoseconds.load(ordering: .relaxed)) / 1e3 }

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
