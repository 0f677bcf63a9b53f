/// Downloads that wait for a slot: the highest priority first, and of equal ones the first or the last that came.
struct DownloadQueue {
    /// In which order downloads of one priority begin.
    enum Order: Sendable, Hashable {
        case firstInFirstOut
        case lastInFirstOut
    }

    private struct Place: Comparable {
        let id: UInt64
        let priority: Int
        let arrival: Int

        /// The greatest is the next.
        static func < (left: Place, right: Place) -> Bool {
            left.priority == right.priority ? left.arrival > right.arrival : left.priority < right.priority
        }
    }

    private let order: Order
    private var places: [UInt64: Place] = [:]
    /// The same in their order. To move what lies behind a place costs less than a heap that knows of each where it is.
    private var line: [Place] = []
    private var arrivals = 0

    init(_ order: Order) {
        self.order = order
    }

    var count: Int { line.count }

    /// Adds one that is not in it.
    mutating func add(_ id: UInt64, _ priority: Int) {
        arrivals += 1
        put(Place(id: id, priority: priority, arrival: order == .firstInFirstOut ? arrivals : -arrivals))
    }

    /// Adds one again whose turn had come: before all others of its priority.
    mutating func putBack(_ id: UInt64, _ priority: Int) {
        arrivals += 1
        put(Place(id: id, priority: priority, arrival: Int.min / 2 + arrivals))
    }

    /// Keeps its position among those of its new priority.
    mutating func change(_ id: UInt64, to priority: Int) {
        guard let place = places[id], place.priority != priority else { return }
        _ = remove(id)
        put(Place(id: id, priority: priority, arrival: place.arrival))
    }

    /// True if it was in it.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let place = places.removeValue(forKey: id) else { return false }
        line.remove(at: index(of: place))
        return true
    }

    /// Takes the one whose turn it is.
    mutating func next() -> UInt64? {
        guard let next = line.popLast() else { return nil }
        places[next.id] = nil
        return next.id
    }

    private mutating func put(_ place: Place) {
        places[place.id] = place
        line.insert(place, at: index(of: place))
    }

    /// Where it is, or is to be.
    private func index(of place: Place) -> Int {
        var (low, high) = (0, line.count)
        while low < high {
            let middle = (low + high) / 2
            if line[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
