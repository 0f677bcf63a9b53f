/// A queue of numbered waiters, served in order of their numbers. A waiter may leave and come back.
///
/// Waiters are stored in order, so one that leaves is found by binary search, and its place is marked empty. The place
/// at the head is never empty. Nearly every waiter has a new number and is added at the end; one that comes back with
/// an old number gets its old position.
struct WaiterQueue<Waiter> {
    private var places: [(number: UInt64, waiter: Waiter?)] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The number of the next waiter.
    var first: UInt64? { isEmpty ? nil : places[head].number }

    mutating func insert(_ waiter: Waiter, number: UInt64) {
        count += 1
        guard let last = places.last, last.number >= number else { return places.append((number, waiter)) }
        let index = index(of: number)
        if index < places.count, places[index].number == number {
            places[index].waiter = waiter
        } else {
            places.insert((number, waiter), at: index)
        }
    }

    mutating func popFirst() -> Waiter? {
        guard !isEmpty, let waiter = places[head].waiter else { return nil }
        places[head].waiter = nil
        count -= 1
        trim()
        return waiter
    }

    /// Removes a waiter; nil if its number is not in the queue any more.
    mutating func leave(_ number: UInt64) -> Waiter? {
        let index = index(of: number)
        guard index < places.count, places[index].number == number, let waiter = places[index].waiter else {
            return nil
        }
        places[index].waiter = nil
        count -= 1
        trim()
        return waiter
    }

    /// The index of the number, or where it would be inserted.
    private func index(of number: UInt64) -> Int {
        var low = head
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Moves the head to the next remaining waiter.
    private mutating func trim() {
        guard !isEmpty else {
            places.removeAll(keepingCapacity: true)
            head = 0
            return
        }
        while places[head].waiter == nil { head += 1 }
        guard head > 64, head * 2 > places.count else { return }
        places.removeFirst(head)
        head = 0
    }
}
