/// A queue of numbered waiters, served in order of their numbers. A waiter may leave and come back.
///
/// Waiters are stored in order, so one that leaves is found by binary search, and its entry is marked empty. The entry
/// at the head is never empty. Nearly every waiter has a new number and is added at the end; one that comes back with
/// an old number gets its old position.
struct WaiterQueue<Waiter> {
    private var entries: [(number: UInt64, waiter: Waiter?)] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var capacity: Int { entries.capacity }

    /// The number of the next waiter.
    var first: UInt64? { isEmpty ? nil : entries[head].number }

    mutating func insert(_ waiter: Waiter, number: UInt64) {
        count += 1
        guard let last = entries.last, last.number >= number else { return entries.append((number, waiter)) }
        let index = index(of: number)
        if index < entries.count, entries[index].number == number {
            entries[index].waiter = waiter
        } else {
            entries.insert((number, waiter), at: index)
        }
    }

    mutating func popFirst() -> Waiter? {
        guard !isEmpty, let waiter = entries[head].waiter else { return nil }
        entries[head].waiter = nil
        count -= 1
        trim()
        return waiter
    }

    /// Removes a waiter; nil if its number is not in the queue any more.
    mutating func leave(_ number: UInt64) -> Waiter? {
        let index = index(of: number)
        guard index < entries.count, entries[index].number == number, let waiter = entries[index].waiter else {
            return nil
        }
        entries[index].waiter = nil
        count -= 1
        trim()
        return waiter
    }

    /// The index of the number, or where it would be inserted.
    private func index(of number: UInt64) -> Int {
        var low = head
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Moves the head to the next remaining waiter.
    private mutating func trim() {
        guard !isEmpty else {
            entries.removeAll(keepingCapacity: capacity <= 128)
            head = 0
            return
        }
        while entries[head].waiter == nil { head += 1 }
        guard head > 64, head * 2 > entries.count else { return }
        entries.removeFirst(head)
        head = 0
    }
}
