/// The capacity of a cache, in bytes.
package struct CacheCapacity: Sendable, Hashable {
    /// The capacity in memory; zero for none.
    package var memory: Int
    /// The capacity on a disk, counted in whole blocks as files use them.
    package var disk: Int
    /// The largest part of a level that one response's body may use. Longer bodies are not stored there.
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

    /// The longest body that is in one file with its head: a hit reads one file once.
    static var longestInline: Int { 16 << 10 }

    /// The number of bytes that may wait to be written into a folder, including heads. Responses beyond it are not
    /// stored.
    static var mostPending: Int { 4 << 20 }
}
