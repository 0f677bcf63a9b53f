/// How much a cache may store, in bytes.
package struct CacheCapacity: Sendable, Hashable {
    /// Of memory; zero for none.
    package var memory: Int
    /// Of a disk, counted as files take up room there.
    package var disk: Int
    /// The largest part of a level that the body of one response may take up. What is larger is not stored there.
    package var largestShare: Double

    package init(memory: Int = 8 << 20, disk: Int = 256 << 20, largestShare: Double = 0.05) {
        (self.memory, self.disk, self.largestShare) = (memory, disk, largestShare)
    }

    /// The longest body in memory.
    var longestInMemory: Int { share(of: memory) }
    /// The longest body on a disk.
    var longestOnDisk: Int { share(of: disk) }

    private func share(of capacity: Int) -> Int {
        guard capacity > 0, largestShare > 0 else { return 0 }
        return largestShare >= 1 ? capacity : Int(Double(capacity) * largestShare)
    }

    /// Bodies that are no longer than this stand in one file with their head: a hit is one file that is read once.
    static var longestInline: Int { 16 << 10 }
}
