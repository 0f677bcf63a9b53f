/// Decides which decodes may run, and which wait.
///
/// The number of decodes, and their bytes together, are limited. They run in order of arrival: smaller ones do not
/// overtake one that waits for much memory, as it might wait for ever. One that exceeds the limit runs alone. A cancel
/// that comes before its decode has entered is kept until then.
struct DecodeQueueMachine<Waiter> {
    enum Entry {
        case admitted
        case waiting
        case cancelled
    }

    /// A waiter, and whether it is admitted.
    struct Answer {
        let waiter: Waiter
        let isAdmitted: Bool
    }

    private struct Waiting {
        let id: UInt64
        let bytes: Int
        let waiter: Waiter
    }

    private let decodes: Int
    private let bytes: Int
    private var lastID: UInt64 = 0
    /// Those that have begun but not entered, and whether they were cancelled.
    private var begun: [UInt64: Bool] = [:]
    /// The waiters, in order of arrival.
    private var queue: [Waiting] = []
    private(set) var running = 0
    private(set) var taken = 0

    init(decodes: Int, bytes: Int) {
        self.decodes = max(1, decodes)
        self.bytes = bytes
    }

    var waiting: Int { queue.count }
    var isIdle: Bool { running == 0 && taken == 0 && queue.isEmpty && begun.isEmpty }

    mutating func begin() -> UInt64 {
        lastID += 1
        begun[lastID] = false
        return lastID
    }

    mutating func enter(_ id: UInt64, _ bytes: Int, _ waiter: Waiter) -> Entry {
        if begun.removeValue(forKey: id) == true { return .cancelled }
        if queue.isEmpty, fits(bytes) {
            admit(bytes)
            return .admitted
        }
        queue.append(Waiting(id: id, bytes: bytes, waiter: waiter))
        return .waiting
    }

    /// Notes that a decode is over.
    mutating func leave(_ bytes: Int) -> [Answer] {
        running -= 1
        taken -= bytes
        return admitMore()
    }

    /// Cancels a waiter; has no effect on one that was admitted.
    mutating func cancel(_ id: UInt64) -> [Answer] {
        if begun[id] != nil {
            begun[id] = true
            return []
        }
        guard let index = queue.firstIndex(where: { $0.id == id }) else { return [] }
        let gone = queue.remove(at: index)
        return [Answer(waiter: gone.waiter, isAdmitted: false)] + admitMore()
    }

    private func fits(_ wanted: Int) -> Bool {
        running == 0 || running < decodes && wanted <= bytes - taken
    }

    private mutating func admit(_ bytes: Int) {
        running += 1
        taken += bytes
    }

    private mutating func admitMore() -> [Answer] {
        var admitted: [Answer] = []
        while let first = queue.first, fits(first.bytes) {
            admit(first.bytes)
            admitted.append(Answer(waiter: first.waiter, isAdmitted: true))
            queue.removeFirst()
        }
        return admitted
    }
}
