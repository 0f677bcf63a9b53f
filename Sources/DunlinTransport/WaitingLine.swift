/// First come, first served, with leaving: a queue of numbered waiters.
///
/// Numbers only grow, so a waiter that leaves is found by binary search and its place is marked empty. The place at the
/// head is never an empty one.
struct WaitingLine<Waiter> {
    private var places: [(number: UInt64, waiter: Waiter?)] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The number of who comes next.
    var first: UInt64? { isEmpty ? nil : places[head].number }

    mutating func append(_ waiter: Waiter, number: UInt64) {
        places.append((number, waiter))
        count += 1
    }

    mutating func popFirst() -> Waiter? {
        guard !isEmpty, let waiter = places[head].waiter else { return nil }
        places[head].waiter = nil
        count -= 1
        trim()
        return waiter
    }

    /// False if the number is not in the line any more.
    mutating func leave(_ number: UInt64) -> Bool {
        var low = head
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].number == number, places[low].waiter != nil else { return false }
        places[low].waiter = nil
        count -= 1
        trim()
        return true
    }

    /// Moves the head on to somebody who still waits.
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
