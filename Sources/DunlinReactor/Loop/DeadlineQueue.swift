internal import DunlinTypes

/// Keeps when each slot is to be looked at.
///
/// It knows slots and times, not what they mean. A slot is in it at most once. Only a check that is brought forward
/// costs anything: a deadline that is put off stays where it is, is looked at too early once and scheduled anew. So a
/// deadline that moves ahead with every request is never touched.
struct DeadlineQueue {
    /// Slots are small numbers: an array finds them faster than a dictionary.
    private struct Places: HeapPlaces {
        /// -1 for none.
        private var places: [Int] = []

        subscript(slot: Int) -> Int? {
            get { slot < places.count && places[slot] >= 0 ? places[slot] : nil }
            set {
                while places.count <= slot { places.append(-1) }
                places[slot] = newValue ?? -1
            }
        }
    }

    private struct Entry: HeapItem {
        typealias Places = DeadlineQueue.Places
        var time: HTTP.Instant
        let name: Int

        func precedes(_ other: Entry) -> Bool { time < other.time }
    }

    private var heap = IndexedHeap<Entry>()

    var earliest: HTTP.Instant? { heap.first?.time }
    var count: Int { heap.count }

    /// Schedules a look at the slot at `time` or before.
    mutating func schedule(_ slot: Int, at time: HTTP.Instant) {
        if let planned = heap[slot]?.time {
            if time < planned { heap.change(slot) { $0.time = time } }
        } else {
            heap.add(Entry(time: time, name: slot))
        }
    }

    mutating func remove(_ slot: Int) {
        heap.remove(slot)
    }

    /// Takes out the earliest slot if its time has come.
    mutating func popExpired(at now: HTTP.Instant) -> Int? {
        guard let first = heap.first, first.time <= now else { return nil }
        heap.remove(first.name)
        return first.name
    }
}
