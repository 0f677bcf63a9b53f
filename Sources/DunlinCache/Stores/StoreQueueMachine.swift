/// Decides the order in which responses are written into a cache's folder after their requests have ended.
///
/// It must not know disks. One writer takes steps from `next`, and calls `done` after each. Rules:
/// 1. The responses that wait or are being written have at most `capacity` bytes together. A new one that exceeds this
///    is refused.
/// 2. The steps for one key are done one after the other, in order of arrival. A lookup for a key with waiting
///    responses comes after these, and finds them.
/// 3. Responses that somebody waits for are written before the others, which are written in order of arrival.
/// 4. A response that is removed before its writing has begun is never written. Its bytes no longer count at once.
/// 5. Somebody who waits for all present responses does not wait for later ones.
struct StoreQueueMachine<Key: Hashable & Sendable, Item, Work> {
    enum Offer: Equatable {
        /// The response was accepted, and the caller must start a writer.
        case begin
        case wait
        case refused
    }

    enum Step {
        case store(Item)
        /// Queued work, which had to wait for a key or for all responses.
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
    /// The remaining steps of each key that is in `hurried` or `order`, or in work now.
    private var jobs: [Key: [Job]] = [:]
    /// The keys that somebody waits for, and all others. A key counts once, where its stamp is the one in `stamps`.
    private var hurried = EvictionQueue<Key>()
    private var order = EvictionQueue<Key>()
    private var stamps: [Key: UInt64] = [:]
    private var current: (key: Key, stored: Stored?)?
    private var barriers: [Barrier] = []
    private var lastNumber: UInt64 = 0
    private var lastStamp: UInt64 = 0
    private(set) var isWriting = false
    private(set) var cost = 0
    /// The number of responses that wait or are being written.
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

    /// Queues work after everything that waits for a key. Returns false if nothing does.
    mutating func follow(_ key: Key, _ work: Work) -> Bool {
        guard jobs[key] != nil else { return false }
        add(.work(work), key)
        return true
    }

    /// Queues work for when all responses that wait now are written. Returns false if none waits.
    mutating func follow(_ work: Work) -> Bool {
        guard count > 0 else { return false }
        barriers.append(Barrier(last: lastNumber, left: count, work: work))
        return true
    }

    private mutating func add(_ job: Job, _ key: Key) {
        jobs[key, default: []].append(job)
        // A key in work is listed again when its step is done.
        if current?.key == key { return }
        switch job {
        case .store: if stamps[key] == nil { list(key, inHurry: false) }
        case .work: if !isHurried(key) { list(key, inHurry: true) }
        }
    }

    private func isAwaited(_ jobs: some Sequence<Job>) -> Bool {
        jobs.contains { if case .work = $0 { true } else { false } }
    }

    /// Whether somebody waited for the key before its last step came.
    private func isHurried(_ key: Key) -> Bool { jobs[key].map { isAwaited($0.dropLast()) } ?? false }

    private mutating func list(_ key: Key, inHurry: Bool) {
        lastStamp += 1
        stamps[key] = lastStamp
        if inHurry { hurried.append(key, lastStamp) } else { order.append(key, lastStamp) }
    }

    // MARK: - What is removed

    /// Removes the responses that wait for a key. Returns them.
    mutating func drop(_ key: Key) -> [Item] {
        guard let listed = jobs[key] else { return [] }
        jobs[key] = listed.filter { if case .work = $0 { true } else { false } }
        return listed.compactMap { job in
            guard case .store(let stored) = job else { return nil }
            end(stored)
            return stored.item
        }
    }

    /// Removes all responses that wait. Returns them.
    mutating func dropAll() -> [Item] {
        jobs.keys.flatMap { drop($0) }
    }

    // MARK: - What is done

    /// Returns the next step; nil if there is none, and then the writer has ended.
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

    /// Notes that the step from `next` is done.
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
            // The key may have been listed again, as one that somebody waits for.
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
