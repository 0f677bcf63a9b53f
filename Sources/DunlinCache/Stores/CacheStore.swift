package import DunlinReactor
package import DunlinSemantics
internal import DunlinTypes
internal import Synchronization

/// The responses of a cache: in memory, on a disk, or in memory in front of a disk.
///
/// Short responses go into memory when they are stored, and when they are found on the disk; what is in memory is also
/// on the disk, if there is one. Each level evicts on its own. Several processes may share a folder; what another one
/// removes or replaces shows here once memory has dropped it.
///
/// A folder that is full, unwritable, gone or owned by others is reported once and counts as empty.
package final class CacheStore: ResponseStore {
    let capacity: CacheCapacity
    let memory: Mutex<MemoryMachine>
    let disk: DiskLevel?
    /// The last number of a response that is in memory alone.
    private let lastNumber = Atomic<UInt64>(0)

    /// Creates a store. `folder`: where the responses are on a disk; nil for memory alone. It is created if missing,
    /// read in the background, and closed to others. `salt`: what the rules hash with, which becomes the folder's.
    /// `report` is called at most once for each reason, from any thread.
    package init(
        _ capacity: CacheCapacity = CacheCapacity(), folder: CacheFolder?, rules: CacheRules, salt: CacheSalt? = nil,
        threads: DiskThreads = .shared, report: @escaping @Sendable (CacheTrouble) -> Void
    ) {
        self.capacity = capacity
        memory = Mutex(MemoryMachine(capacity: capacity.memory, longest: capacity.longestInMemory))
        disk = folder.map { folder in
            DiskLevel(
                folder, capacity: capacity.disk, rules: rules, salt: salt, threads: threads, report: report)
        }
        if let disk { disk.background { disk.readFolder() } }
    }

    /// Ends work in the background and returns when it has ended; responses that wait to be written are written. After
    /// that nothing is stored or found on the disk.
    package func close() async {
        await disk?.close()
    }

    /// Returns when everything that waits to be written now is written, or when the wait is over.
    package func written(within wait: StoreWait?) async {
        await disk?.written(within: wait)
    }

    /// Returns when no work is under way in the background.
    package func backgroundEnded() async {
        await disk?.finished()
    }

    /// The disk; nil if there is none, or it is not used any more.
    var usableDisk: DiskLevel? { disk.flatMap { $0.isRefused ? nil : $0 } }

    func name(_ key: CacheKey) -> CacheName? {
        if let name = CacheName(key) { return name }
        disk?.tell(.names)
        return nil
    }

    // MARK: - Finding

    package func responsesAtHand(for key: CacheKey) -> [StoredResponse]? {
        inMemory(key) ?? (usableDisk == nil ? [] : nil)
    }

    private func inMemory(_ key: CacheKey) -> [StoredResponse]? {
        guard let found = memory.withLock({ $0.find(key) }) else { return nil }
        if found.isFirstUse, let disk, let name = name(key) { disk.noteUse(name) }
        return found.responses
    }

    package func responses(for key: CacheKey, within wait: StoreWait? = nil) async -> [StoredResponse] {
        if let found = responsesAtHand(for: key) { return found }
        guard let disk = usableDisk, let name = name(key) else { return [] }
        let stamp = memory.withLock { $0.beginFinding(key) }
        return await disk.run(within: wait, behind: key) {
            // Anything that had to be written first is in memory then.
            if let found = self.inMemory(key) { return found }
            let found = disk.find(key, name)
            self.memory.withLock { $0.endFinding(stamp, found) }
            return found
        } ?? []
    }

    // MARK: - Storing

    package func removals(of key: CacheKey) -> UInt64 { memory.withLock { $0.removals(key) } }

    package func removals(of key: CacheKey, by keys: [CacheKey]) -> UInt64 {
        memory.withLock { $0.removals(key, by: keys) }
    }

    /// Returns a writer. If the key is removed with `remove` meanwhile, the writer has no effect.
    package func writer(
        for key: CacheKey, length: Int?, since removals: UInt64? = nil, within wait: StoreWait? = nil
    ) async -> (any ResponseWriter)? {
        await newWriter(for: key, length: length, behind: 0, removals, within: wait)
    }

    /// Returns a writer that continues `part`, whose bytes are copied before this returns.
    package func writer(
        for key: CacheKey, length: Int?, behind part: StoredResponse, since removals: UInt64? = nil,
        within wait: StoreWait? = nil
    ) async throws(CacheDamage) -> (any ResponseWriter)? {
        guard let writer = await newWriter(for: key, length: length, behind: part.body.count, removals, within: wait)
        else {
            return nil
        }
        return try await writer.copy(part.body) ? writer : nil
    }

    private func newWriter(
        for key: CacheKey, length: Int?, behind start: Int, _ removals: UInt64?, within wait: StoreWait?
    ) async -> CacheWriter? {
        let removals = removals ?? self.removals(of: key)
        let disk = await readyDisk(wait)
        let room = disk == nil ? capacity.longestInMemory : capacity.longestOnDisk
        guard start <= room, max(0, length ?? 0) <= room - start, room > 0 else { return nil }
        return CacheWriter(
            self, disk, key, id: newNumber(disk), removals: removals,
            inline: disk == nil ? room : min(room, CacheCapacity.longestInline), limit: room, within: wait)
    }

    /// A number for a response. In a folder that processes share it is random, which takes a system call.
    private func newNumber(_ disk: DiskLevel?) -> UInt64 {
        disk == nil ? lastNumber.add(1, ordering: .relaxed).newValue : UInt64.random(in: 1 ... .max)
    }

    private func readyDisk(_ wait: StoreWait?) async -> DiskLevel? {
        guard let disk = usableDisk else { return nil }
        if disk.isReady { return disk }
        return await disk.run(within: wait) { disk.prepare() } ?? false ? disk : nil
    }

    /// Makes a response with a whole body findable, once its last bytes are written. Returns whether it is known to be.
    func add(_ finished: CacheWriter.Finished, within wait: StoreWait?) async -> Bool {
        let key = finished.entry.key
        guard let disk = finished.disk else { return addToMemory(finished) }
        let name = name(key)
        return await change(key, on: disk, within: wait) { self.write(finished, name, on: disk) }
    }

    /// Makes a response findable after its request has ended, if its body is in memory: then `whenStored` is called
    /// with whether it was stored.
    func hand(
        _ finished: CacheWriter.Finished, within wait: StoreWait?, _ whenStored: @escaping @Sendable (Bool) -> Void
    ) async -> HandedResponse {
        let key = finished.entry.key
        guard let disk = finished.disk, finished.file == nil else {
            return await add(finished, within: wait) ? .stored : .refused
        }
        guard let name = name(key), !disk.isRefused else { return .refused }
        let pending = StoreQueue.Pending(store: { self.writePending(finished, name, on: disk) }, whenStored: whenStored)
        let offer: StoreQueue.Offer? = memory.withLock { memory in
            guard memory.removals(key) == finished.removals else { return nil }
            let offer = disk.queue.offer(pending, for: key, cost: finished.cost)
            // From now on a lookup goes to the disk, after everything that waits for this key.
            if offer != .refused { memory.endChange(memory.beginChange(key), nil) }
            return offer
        }
        switch offer {
        case .begin: disk.queue.write(on: disk)
        case .wait: break
        case .refused:
            disk.tell(.backlog)
            return .refused
        case nil: return .refused
        }
        return .storing
    }

    private func writePending(_ finished: CacheWriter.Finished, _ name: CacheName, on disk: DiskLevel) -> Bool {
        let key = finished.entry.key
        let stamp = memory.withLock { memory in
            memory.removals(key) == finished.removals ? memory.beginChange(key) : nil
        }
        return stamp.map { end($0, with: write(finished, name, on: disk), on: disk) } ?? false
    }

    /// Writes a response. Returns what is stored under the key from then on; nil if the response is not known to be
    /// stored.
    private func write(
        _ finished: CacheWriter.Finished, _ name: CacheName?, on disk: DiskLevel
    ) -> (CacheRecord, CacheName)? {
        var file = finished.file
        // A stored file has another name by then, and nothing is removed.
        defer { if let file { disk.discard(file) } }
        guard disk.complete(finished, &file), let name,
            let member = CacheRecord.Member(id: finished.id, entry: finished.entry, bytes: finished.bytes)
        else { return nil }
        let addition = DiskLevel.Addition(name: name, member: member, file: file, replaced: finished.replaced)
        let record = disk.add(addition) {
            self.memory.withLock { $0.removals(finished.entry.key) } != finished.removals
        }
        return record.map { ($0, name) }
    }

    private func addToMemory(_ finished: CacheWriter.Finished) -> Bool {
        guard let bytes = finished.bytes else { return false }
        let response = StoredResponse(
            entry: finished.entry, level: .memory, body: MemoryBody(bytes), id: finished.id)
        return memory.withLock { memory in
            memory.change(finished.entry.key, removals: finished.removals) { list in
                list.removeAll { finished.replaced.contains($0.id) || finished.entry.supersedes($0.entry) }
                list.append(response)
            }
        }
    }

    package func update(_ response: StoredResponse, to entry: CacheEntry, within wait: StoreWait? = nil) async {
        let (key, id) = (entry.key, response.id)
        guard let disk = usableDisk else {
            return memory.withLock { memory in
                _ = memory.change(key) { list in
                    guard let index = list.firstIndex(where: { $0.id == id }) else { return }
                    list[index] = StoredResponse(entry: entry, level: .memory, body: list[index].body, id: id)
                }
            }
        }
        guard let name = name(key) else { return }
        await change(key, on: disk, within: wait) { disk.update(id, to: entry, name).map { ($0, name) } }
    }

    /// Changes something on the disk and in memory. Returns whether it is known what is stored from now on.
    @discardableResult
    private func change(
        _ key: CacheKey, on disk: DiskLevel, within wait: StoreWait?,
        _ work: @escaping @Sendable () -> (CacheRecord, CacheName)?
    ) async -> Bool {
        let stamp = memory.withLock { $0.beginChange(key) }
        return await disk.run(within: wait, always: true, behind: key) { self.end(stamp, with: work(), on: disk) }
            ?? false
    }

    private func end(
        _ stamp: MemoryMachine.Stamp, with record: (CacheRecord, CacheName)?, on disk: DiskLevel
    ) -> Bool {
        let found = record.flatMap { record, name in disk.responsesInMemory(record, name) }
        memory.withLock { $0.endChange(stamp, found) }
        return record != nil
    }

    // MARK: - Removing

    package func remove(_ responses: [StoredResponse], within wait: StoreWait? = nil) async {
        var ids: [CacheKey: Set<UInt64>] = [:]
        for response in responses { ids[response.entry.key, default: []].insert(response.id) }
        for (key, ids) in ids { await remove(key, ids, wait) }
    }

    private func remove(_ key: CacheKey, _ ids: Set<UInt64>, _ wait: StoreWait?) async {
        guard let disk = usableDisk else {
            return memory.withLock { _ = $0.change(key) { list in list.removeAll { ids.contains($0.id) } } }
        }
        guard let name = name(key) else { return }
        await change(key, on: disk, within: wait) {
            disk.remove(name, ids)
            return nil
        }
    }

    package func remove(_ keys: [CacheKey], within wait: StoreWait? = nil) async {
        // Everything that waits for any of these keys is discarded before the first wait.
        let changes = keys.compactMap { key in beginRemoval(key).map { (key, $0) } }
        for (key, (disk, name, stamp)) in changes {
            _ = await disk.run(within: wait, always: true, behind: key) {
                if disk.prepare() { disk.removeAll(name, .wanted) }
                self.memory.withLock { $0.endChange(stamp, nil) }
            }
        }
    }

    /// Begins to remove everything under a key. Returns what the disk needs for the rest; nil if nothing is left to do.
    private func beginRemoval(_ key: CacheKey) -> (DiskLevel, CacheName, MemoryMachine.Stamp)? {
        guard let disk = usableDisk, let name = name(key) else {
            memory.withLock { $0.remove(key) }
            return nil
        }
        let stamp = memory.withLock { $0.beginChange(key, isRemoval: true) }
        disk.queue.drop(key)
        return (disk, name, stamp)
    }

    /// Removes everything, also of other processes. Writing under way has no effect.
    package func removeAll() async {
        memory.withLock { $0.removeAll() }
        guard let disk = usableDisk else { return }
        disk.queue.dropAll()
        await disk.runBehindAll { if disk.prepare() { CacheSweep(disk, now: Int(WallClock.seconds)).removeAll() } }
        memory.withLock { $0.removeAll() }
    }
}
