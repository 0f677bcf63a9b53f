internal import DunlinTypes

/// Keeps when each slot is to be looked at.
///
/// It knows slots and times, not what they mean. A slot is in it at most once. Only a check that is brought forward
/// costs anything: a deadline that is put off stays where it is, is looked at too early once and scheduled anew. So a
/// deadline that moves ahead with every request is never touched.
struct DeadlineQueue {
    /// Slots are small numbers: an array finds them faster than a dictionary.
    private struct Indices: HeapIndices {
        /// -1 for none.
        private var indices: [Int] = []

        subscript(slot: Int) -> Int? {
            get { slot < indices.count && indices[slot] >= 0 ? indices[slot] : nil }
            set {
                while indices.count <= slot { indices.append(-1) }
                indices[slot] = newValue ?? -1
            }
        }
    }

    private struct Entry: HeapItem {
        typealias Indices = DeadlineQueue.Indices
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
