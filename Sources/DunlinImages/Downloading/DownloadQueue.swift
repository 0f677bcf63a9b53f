internal import Dunlin

/// Downloads that wait for a slot: the highest priority first, and of equal ones the first or the last that came.
struct DownloadQueue {
    /// In which order downloads of one priority begin.
    enum Order: Sendable, Hashable {
        case firstInFirstOut
        case lastInFirstOut
    }

    private struct Place: HeapItem {
        typealias Places = [UInt64: Int]
        let name: UInt64
        var priority: Int
        let arrival: Int

        func precedes(_ other: Place) -> Bool {
            priority == other.priority ? arrival < other.arrival : priority > other.priority
        }
    }

    private let order: Order
    private var heap = IndexedHeap<Place>()
    private var arrivals = 0

    init(_ order: Order) {
        self.order = order
    }

    var count: Int { heap.count }

    /// Adds one that is not in it.
    mutating func add(_ id: UInt64, _ priority: Int) {
        arrivals += 1
        heap.add(Place(name: id, priority: priority, arrival: order == .firstInFirstOut ? arrivals : -arrivals))
    }

    /// Adds one again whose turn had come: before all others of its priority.
    mutating func putBack(_ id: UInt64, _ priority: Int) {
        arrivals += 1
        heap.add(Place(name: id, priority: priority, arrival: Int.min / 2 + arrivals))
    }

    /// Keeps its position among those of its new priority.
    mutating func change(_ id: UInt64, to priority: Int) {
        heap.change(id) { $0.priority = priority }
    }

    /// True if it was in it.
    mutating func remove(_ id: UInt64) -> Bool { heap.remove(id) != nil }

    /// Takes the one whose turn it is.
    mutating func next() -> UInt64? { heap.popFirst()?.name }
}
