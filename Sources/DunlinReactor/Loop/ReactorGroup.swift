internal import Glibc
internal import Synchronization

/// Loops that are started when first asked for.
public final class ReactorGroup: Sendable {
    /// The process's own loops, shared by every session without loops of its own: one for two processors.
    public static let shared = ReactorGroup(count: loopsOfTestRun ?? sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)

    private static let most = 16

    /// The number of loops that `DUNLIN_LOOPS` asks for, whatever the machine; for test runs.
    package static let loopsOfTestRun = getenv("DUNLIN_LOOPS").flatMap { loops(said: String(cString: $0)) }

    /// Reads a number of loops; nil if the text is none.
    static func loops(said text: String) -> Int? {
        guard let count = Int(text), (1...most).contains(count) else { return nil }
        return count
    }

    private let count: Int
    private let started = Mutex<[Reactor]>([])

    public init(count: Int) {
        self.count = max(1, min(Self.most, count))
    }

    /// The loops, started if need be. Throws when the kernel refuses a thread or a descriptor; the next call tries
    /// again.
    public func reactors() throws(Errno) -> [Reactor] {
        try started.withLock { started throws(Errno) -> [Reactor] in
            // The loops are started under the lock: it happens once, and nobody else may start a second set.
            while started.count < count { started.append(try Reactor(name: "dunlin-\(started.count)")) }
            return started
        }
    }
}
