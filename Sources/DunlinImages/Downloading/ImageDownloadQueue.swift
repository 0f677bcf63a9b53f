internal import Dunlin

/// The downloads that wait for a slot, highest priority first, and within a priority the first or last that came.
struct ImageDownloadQueue {
    /// The order of downloads with the same priority.
    enum Order: Sendable, Hashable {
        case firstInFirstOut
        case lastInFirstOut
    }

    private struct Entry: HeapItem {
        typealias Indices = [UInt64: Int]
        let name: UInt64
        var priority: Int
        let arrival: Int

        func precedes(_ other: Entry) -> Bool {
            priority == other.priority ? arrival < other.arrival : priority > other.priority
        }
    }

    private let order: Order
    private var heap = IndexedHeap<Entry>()
    private var arrivals = 0

    init(_ order: Order) {
        self.order = order
    }

    var count: Int { heap.count }

    /// Adds a download that is not in the queue.
    mutating func add(_ id: UInt64, _ priority: Int) {
        arrivals += 1
        heap.add(Entry(name: id, priority: priority, arrival: order == .firstInFirstOut ? arrivals : -arrivals))
    }

    /// Puts back a download whose turn had come, before all others of its priority.
    mutating func putBack(_ id: UInt64, _ priority: Int) {
        arrivals += 1
        heap.add(Entry(name: id, priority: priority, arrival: Int.min / 2 + arrivals))
    }

    /// Changes a priority; the download keeps its order of arrival.
    mutating func change(_ id: UInt64, to priority: Int) {
        heap.change(id) { $0.priority = priority }
    }

    /// Removes a download. Returns whether it was in the queue.
    mutating func remove(_ id: UInt64) -> Bool { heap.remove(id) != nil }

    /// Removes and returns the next download.
    mutating func next() -> UInt64? { heap.popFirst()?.name }
}
