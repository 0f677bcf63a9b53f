/// Which responses wait to be written into a cache's folder, behind the requests that brought them.
///
/// It must not know disks. One writer does what `next` says and tells when that is done. Rules:
/// 1. What waits, and what is being written, has `capacity` bytes at most. What would be more is refused: the newest.
/// 2. What concerns one key is done one after the other, in the order in which it came. Whoever asks for a key of which
///    something waits comes behind that, and finds it.
/// 3. What somebody waits for is written before the rest, which is written in the order in which it came.
/// 4. What is removed before it was begun is never written. It gives its bytes back at once.
/// 5. Who waits for all that was there at a moment does not wait for what comes later.
struct StoreQueueMachine<Key: Hashable & Sendable, Item, Work> {
    enum Offer: Equatable {
        /// Somebody has to write from now on.
        case begin
        case wait
        case refused
    }

    enum Step {
        case store(Item)
        /// Somebody's work, which had to wait for a key.
        case work(Work)
    }

    private struct Stored {
        let item: Item
        let cost: Int
        let number: UInt64
    }

    private enum Job {
        case store(Stored)
        case work(Work)
    }

    private struct Barrier {
        let last: UInt64
        var left: Int
        let work: Work
    }

    private let capacity: Int
    /// The keys that are listed in `hurried` or `order`, or at work now, each with what is to be done still.
    private var jobs: [Key: [Job]] = [:]
    /// The keys that somebody waits for, and all others. A key is in one of them once, by the stamp it has.
    private var hurried = EvictionQueue<Key>()
    private var order = EvictionQueue<Key>()
    private var stamps: [Key: UInt64] = [:]
    private var current: (key: Key, stored: Stored?)?
    private var barriers: [Barrier] = []
    private var lastNumber: UInt64 = 0
    private var lastStamp: UInt64 = 0
    private(set) var isWriting = false
    private(set) var cost = 0
    /// How many responses wait or are being written.
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    // MARK: - What comes

    mutating func offer(_ item: Item, for key: Key, cost: Int) -> Offer {
        guard cost <= capacity - self.cost else { return .refused }
        lastNumber += 1
        self.cost += cost
        count += 1
        add(.store(Stored(item: item, cost: cost, number: lastNumber)), key)
        if isWriting { return .wait }
        isWriting = true
        return .begin
    }

    /// Has work done behind what waits of a key; false if nothing does.
    mutating func follow(_ key: Key, _ work: Work) -> Bool {
        guard jobs[key] != nil else { return false }
        add(.work(work), key)
        return true
    }

    /// Has work done once all that waits now was done; false if nothing does.
    mutating func follow(_ work: Work) -> Bool {
        guard count > 0 else { return false }
        barriers.append(Barrier(last: lastNumber, left: count, work: work))
        return true
    }

    private mutating func add(_ job: Job, _ key: Key) {
        jobs[key, default: []].append(job)
        // What is at work is listed again when that is done.
        if current?.key == key { return }
        switch job {
        case .store: if stamps[key] == nil { list(key, inHurry: false) }
        case .work: if !isHurried(key) { list(key, inHurry: true) }
        }
    }

    private func isAwaited(_ jobs: some Sequence<Job>) -> Bool {
        jobs.contains { if case .work = $0 { true } else { false } }
    }

    /// Whether somebody waits for it before the last that came.
    private func isHurried(_ key: Key) -> Bool { jobs[key].map { isAwaited($0.dropLast()) } ?? false }

    private mutating func list(_ key: Key, inHurry: Bool) {
        lastStamp += 1
        stamps[key] = lastStamp
        if inHurry { hurried.append(key, lastStamp) } else { order.append(key, lastStamp) }
    }

    // MARK: - What is removed

    /// What waits of a key is not to be written. Returns it.
    mutating func drop(_ key: Key) -> [Item] {
        guard let listed = jobs[key] else { return [] }
        jobs[key] = listed.filter { if case .work = $0 { true } else { false } }
        return listed.compactMap { job in
            guard case .store(let stored) = job else { return nil }
            end(stored)
            return stored.item
        }
    }

    /// Nothing that waits is to be written. Returns it.
    mutating func dropAll() -> [Item] {
        jobs.keys.flatMap { drop($0) }
    }

    // MARK: - What is done

    /// What is to be done now; nil if there is nothing, and nobody writes any more.
    mutating func next() -> Step? {
        if let work = takeBarrier() { return .work(work) }
        while let key = nextKey() {
            guard let job = jobs[key]?.first else {
                jobs[key] = nil
                continue
            }
            jobs[key]?.removeFirst()
            switch job {
            case .store(let stored):
                current = (key, stored)
                return .store(stored.item)
            case .work(let work):
                current = (key, nil)
                return .work(work)
            }
        }
        isWriting = false
        return nil
    }

    /// What `next` said was done.
    mutating func done() {
        guard let (key, stored) = current else { return }
        current = nil
        if let stored { end(stored) }
        guard let rest = jobs[key], !rest.isEmpty else {
            jobs[key] = nil
            return
        }
        list(key, inHurry: isAwaited(rest))
    }

    private mutating func nextKey() -> Key? {
        while let (key, stamp) = hurried.popFirst() ?? order.popFirst() {
            // It may be listed again, in a hurry.
            guard stamps[key] == stamp else { continue }
            stamps[key] = nil
            return key
        }
        return nil
    }

    private mutating func takeBarrier() -> Work? {
        guard let index = barriers.firstIndex(where: { $0.left == 0 }) else { return nil }
        return barriers.remove(at: index).work
    }

    private mutating func end(_ stored: Stored) {
        cost -= stored.cost
        count -= 1
        for index in barriers.indices where barriers[index].last >= stored.number { barriers[index].left -= 1 }
    }
}
