internal import DunlinReactor
internal import DunlinSemantics

/// Reads a cache's folder: removes files that nobody uses any more, and lists the rest. Waits for a disk.
///
/// Rules:
/// 1. A temporary file belongs to the process that has it locked. Without locks, one that is a day old is nobody's.
/// 2. A body belongs to the head that names it. Both are put in place under one lock, so a body without a head was left
///    by a process that ended in between.
/// 3. Files of other versions are removed once they are a day old: another program may still use them.
/// 4. Files of other names are left alone.
/// 5. Of known names, only their presence is checked: whoever has changed one since has counted it.
struct CacheSweep {
    struct Outcome {
        /// The names that are there.
        var there: Set<CacheName> = []
        /// The names that were not known, oldest first.
        var new: [DiskIndex.Found] = []
    }

    private struct Group {
        var cost = 0
        var modified = Int.max
        var isUsed = false
        var bodies: Set<UInt64> = []
        var hasRecord = false
    }

    private static let day = 86_400

    private let level: DiskLevel
    private let folder: CacheFolder
    private let now: Int
    private let known: EvictionMachine<CacheName, Void>?
    private var there: Set<CacheName> = []
    private var groups: [CacheName: Group] = [:]

    /// Creates a sweep; the files of names in `known` are not examined.
    init(_ level: DiskLevel, now: Int, known: EvictionMachine<CacheName, Void>? = nil) {
        (self.level, folder, self.now, self.known) = (level, level.folder, now, known)
    }

    /// Returns what is there; nil if the folder cannot be read, or `isOver` ended the work.
    consuming func run(isOver: () -> Bool) -> Outcome? {
        do throws(Errno) {
            for text in try folder.names() {
                if isOver() { return nil }
                if let file = CacheFileName(text) { note(file, text) }
            }
        } catch {
            // Somebody has removed the folder: it is created again when something is stored.
            if error.meansNoSuchFile { return Outcome() }
            level.tell(.folder(error))
            return nil
        }
        for (name, group) in groups where !group.bodies.isEmpty {
            if isOver() { return nil }
            removeOrphans(name, group)
        }
        // Of names from the same second, all processes evict the same first.
        let order = groups.filter { $0.value.hasRecord }.sorted {
            ($0.value.modified, $0.key.words[0]) < ($1.value.modified, $1.key.words[0])
        }
        let new = order.map { DiskIndex.Found(name: $0.key, cost: $0.value.cost, isUsed: $0.value.isUsed) }
        return Outcome(there: there, new: new)
    }

    private mutating func note(_ file: CacheFileName, _ text: String) {
        switch file {
        case .record(let name):
            there.insert(name)
            if known?.cost(of: name) != nil { return }
        case .body(let name, let id):
            guard known?.cost(of: name) != nil else { break }
            groups[name, default: Group()].bodies.insert(id)
            return
        case .temporary, .lock, .salt, .other: break
        }
        look(at: file, text)
    }

    private mutating func look(at file: CacheFileName, _ text: String) {
        do throws(Errno) {
            guard let status = try folder.status(of: text), status.kind == .file else { return }
            switch file {
            case .record(let name):
                groups[name, default: Group()].cost += DiskIndex.cost(ofFile: status.length)
                groups[name]?.modified = status.modified
                groups[name]?.isUsed = status.ownership.permissions & 0o200 == 0
                groups[name]?.hasRecord = true
            case .body(let name, let id):
                groups[name, default: Group()].cost += DiskIndex.cost(ofFile: status.length)
                groups[name]?.bodies.insert(id)
            case .temporary: try removeTemporary(text, status)
            case .other: if status.isOlder(than: Self.day, at: now) { try folder.remove(named: text) }
            case .lock, .salt: break
            }
        } catch {
            // A body that has gone meanwhile, is being written, or cannot be removed stays.
        }
    }

    private func removeTemporary(_ text: String, _ status: FileStatus) throws(Errno) {
        let file = try PartFile(opening: folder.path + "/" + text)
        if file.isLocked || status.isOlder(than: Self.day, at: now) { try folder.remove(named: text) }
    }

    private func removeOrphans(_ name: CacheName, _ group: Group) {
        do throws(Errno) {
            let lock = try level.lock(name)
            defer { withExtendedLifetime(lock) {} }
            // Without a lock, a body may be there just before its head.
            guard lock.isLocked else { return }
            let listed = try level.readRecord(name)?.files ?? []
            for id in group.bodies.subtracting(listed) { try folder.remove(.body(name, id)) }
        } catch {
            // The remaining files stay until the next sweep.
        }
    }

    /// Removes everything that a cache has stored or is writing.
    func removeAll() {
        do throws(Errno) {
            // Twice, for files that got their names meanwhile.
            for _ in 0..<2 {
                for text in try folder.names() { try remove(text) }
            }
            // The index learns what others had removed, and what came meanwhile.
            level.readFolder()
        } catch {
            if error.meansNoSuchFile { level.removedAll() } else { level.tell(.writing(error)) }
        }
    }

    private func remove(_ text: String) throws(Errno) {
        switch CacheFileName(text) {
        case .record(let name): level.removeAll(name, .wanted)
        case .body, .other: try folder.remove(named: text)
        case .temporary:
            if let status = try folder.status(of: text) { removeUnowned(text, status) }
        case .lock, .salt, nil: break
        }
    }

    private func removeUnowned(_ text: String, _ status: FileStatus) {
        do throws(Errno) { try removeTemporary(text, status) } catch {}
    }

    /// Returns everything that is stored and can be read.
    func list() -> [CacheStore.Listed] {
        do throws(Errno) {
            var list: [CacheStore.Listed] = []
            for text in try folder.names() {
                guard case .record(let name) = CacheFileName(text), !level.isBanned(name),
                    let record = try level.readRecord(name)
                else { continue }
                list += record.members.map { member in
                    CacheStore.Listed(entry: member.entry, count: member.entry.body.range.count, level: .disk)
                }
            }
            return list
        } catch {
            if !error.meansNoSuchFile { level.tell(.reading(error)) }
            return []
        }
    }
}
