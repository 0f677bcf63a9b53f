/// Which decodes may run, and who waits.
///
/// So many run at a time, and take so many bytes together. Who comes first goes first: a decode that waits for much
/// memory is not overtaken by smaller ones, which could keep it waiting for ever. One that takes more than there is at
/// all runs alone. A cancel may come before its decode has entered: it is kept until then.
struct DecodeQueueMachine<Waiter> {
    enum Entry {
        case admitted
        case waiting
        case cancelled
    }

    /// Of one who waited: who it is, and whether it may go.
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
    /// Those who have begun and not entered, and whether they were cancelled.
    private var begun: [UInt64: Bool] = [:]
    /// In the order of their arrival.
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

    /// A decode is over.
    mutating func leave(_ bytes: Int) -> [Answer] {
        running -= 1
        taken -= bytes
        return admitMore()
    }

    /// Who was admitted has no use for this any more.
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
