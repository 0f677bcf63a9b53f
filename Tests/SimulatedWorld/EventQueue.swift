/// What will happen, in the order of its time; what has one time happens in the order in which it was added.
struct EventQueue {
    enum Event {
        case arrival(client: Int)
        /// A request asks for its next attempt: after a wait for its turn, if it has a number.
        case attempt(request: Int, number: UInt64?)
        case served(job: Job, era: Int)
        case answered(job: Job, Answer)
        case attemptLimit(job: Job)
        case totalLimit(request: Int)
        case change
    }

    private struct Entry {
        let time: Int64
        let number: Int
        let event: Event

        func isBefore(_ other: Entry) -> Bool { time == other.time ? number < other.number : time < other.time }
    }

    private var heap: [Entry] = []
    private var added = 0

    mutating func add(_ event: Event, at time: Int64) {
        heap.append(Entry(time: time, number: added, event: event))
        added += 1
        var index = heap.count - 1
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func next() -> (time: Int64, event: Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.time, first.event)
    }

    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].isBefore(heap[least]) {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}

/// One attempt of a request.
package struct Job {
    package let request: Int
    package let attempt: Int

    package init(request: Int, attempt: Int) { (self.request, self.attempt) = (request, attempt) }
}
