internal import DunlinTypes

/// Keeps when each slot is to be looked at: a binary heap that knows the index of each slot.
///
/// It knows slots and times, not what they mean. A slot is in it at most once. Only a check that is brought forward
/// costs anything: a deadline that is put off stays where it is, is looked at too early once and scheduled anew. So a
/// deadline that moves ahead with every request is never touched.
struct DeadlineQueue {
    private struct Entry {
        var time: MonotonicTime
        var slot: Int
    }

    private var heap: [Entry] = []
    /// The index of a slot in the heap, or -1.
    private var positions: [Int] = []

    var earliest: MonotonicTime? { heap.first?.time }
    var count: Int { heap.count }

    /// Schedules a look at the slot at `time` or before.
    mutating func schedule(_ slot: Int, at time: MonotonicTime) {
        while positions.count <= slot { positions.append(-1) }
        let position = positions[slot]
        if position < 0 {
            heap.append(Entry(time: time, slot: slot))
            positions[slot] = heap.count - 1
            siftUp(heap.count - 1)
        } else if time < heap[position].time {
            heap[position].time = time
            siftUp(position)
        }
    }

    mutating func remove(_ slot: Int) {
        guard slot < positions.count, positions[slot] >= 0 else { return }
        let position = positions[slot]
        positions[slot] = -1
        let last = heap.removeLast()
        guard position < heap.count else { return }
        heap[position] = last
        positions[last.slot] = position
        siftUp(position)
        siftDown(position)
    }

    /// Takes out the earliest slot if its time has come.
    mutating func popExpired(at now: MonotonicTime) -> Int? {
        guard let first = heap.first, first.time <= now else { return nil }
        remove(first.slot)
        return first.slot
    }

    private mutating func siftUp(_ start: Int) {
        var position = start
        while position > 0, heap[position].time < heap[(position - 1) / 2].time {
            swap(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var position = start
        while true {
            var least = 2 * position + 1
            guard least < heap.count else { return }
            if least + 1 < heap.count, heap[least + 1].time < heap[least].time { least += 1 }
            guard heap[least].time < heap[position].time else { return }
            swap(position, least)
            position = least
        }
    }

    private mutating func swap(_ a: Int, _ b: Int) {
        heap.swapAt(a, b)
        positions[heap[a].slot] = a
        positions[heap[b].slot] = b
    }
}
