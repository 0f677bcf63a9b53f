/// Downloads that wait for a slot: the highest priority first, and of equal ones the first or the last that came.
///
/// A binary heap. What is removed, or changes its priority, leaves its old entry behind, which counts no more and is
/// passed over when it comes up; they are cleared away when they are the greater part.
struct DownloadQueue {
    /// In which order downloads of one priority begin.
    enum Order: Sendable, Hashable {
        case firstInFirstOut
        case lastInFirstOut
    }

    private struct Entry {
        let id: UInt64
        let priority: Int
        let arrival: Int
    }

    private let order: Order
    private var heap: [Entry] = []
    /// What counts: the priority and the arrival of each.
    private var places: [UInt64: (priority: Int, arrival: Int)] = [:]
    private var arrivals = 0

    init(_ order: Order) {
        self.order = order
    }

    var count: Int { places.count }
    /// With the entries that count no more.
    var length: Int { heap.count }

    /// Adds one that is not in it.
    mutating func add(_ id: UInt64, _ priority: Int) {
        arrivals += 1
        put(Entry(id: id, priority: priority, arrival: order == .firstInFirstOut ? arrivals : -arrivals))
    }

    /// Adds one again whose turn had come: before all others of its priority.
    mutating func putBack(_ id: UInt64, _ priority: Int) {
        arrivals += 1
        put(Entry(id: id, priority: priority, arrival: Int.min / 2 + arrivals))
    }

    /// Keeps its position among those of its new priority.
    mutating func change(_ id: UInt64, to priority: Int) {
        guard let place = places[id], place.priority != priority else { return }
        put(Entry(id: id, priority: priority, arrival: place.arrival))
    }

    /// True if it was in it.
    mutating func remove(_ id: UInt64) -> Bool {
        guard places.removeValue(forKey: id) != nil else { return false }
        clear()
        return true
    }

    /// Takes the one whose turn it is.
    mutating func next() -> UInt64? {
        while let entry = pop() {
            guard let place = places[entry.id], place == (entry.priority, entry.arrival) else { continue }
            places[entry.id] = nil
            clear()
            return entry.id
        }
        return nil
    }

    private mutating func put(_ entry: Entry) {
        places[entry.id] = (entry.priority, entry.arrival)
        heap.append(entry)
        rise(from: heap.count - 1)
        clear()
    }

    private mutating func clear() {
        guard heap.count > 2 * places.count + 16 else { return }
        heap.removeAll { entry in
            places[entry.id].map { $0 != (entry.priority, entry.arrival) } ?? true
        }
        // A sorted list is a heap.
        heap.sort(by: Self.isBefore)
    }

    private static func isBefore(_ one: Entry, _ other: Entry) -> Bool {
        one.priority == other.priority ? one.arrival < other.arrival : one.priority > other.priority
    }

    private mutating func pop() -> Entry? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return first
    }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0, Self.isBefore(heap[index], heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink() {
        var index = 0
        while 2 * index + 1 < heap.count {
            var child = 2 * index + 1
            if child + 1 < heap.count, Self.isBefore(heap[child + 1], heap[child]) { child += 1 }
            guard Self.isBefore(heap[child], heap[index]) else { return }
            heap.swapAt(child, index)
            index = child
        }
    }
}
