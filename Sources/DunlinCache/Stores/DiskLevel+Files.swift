internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTypes

/// The files of one key.
extension DiskLevel {
    /// Reads a key's file; nil if there is none, or if it is damaged, which removes it.
    func readRecord(_ name: CacheName) throws(Errno) -> CacheRecord? {
        guard let bytes = try folder.contents(of: .record(name), limit: CacheRecord.longest) else { return nil }
        if let record = sound(bytes) { return record }
        tell(.damage)
        background { self.removeDamaged(name) }
        return nil
    }

    private func sound(_ bytes: [UInt8]) -> CacheRecord? {
        do throws(CacheRefusal) { return try CacheRecord(bytes, rules: rules) } catch { return nil }
    }

    /// Somebody may have replaced it by a sound one meanwhile.
    private func removeDamaged(_ name: CacheName) {
        do throws(Errno) {
            let lock = try self.lock(name)
            defer { withExtendedLifetime(lock) {} }
            guard let bytes = try folder.contents(of: .record(name), limit: CacheRecord.longest), sound(bytes) == nil
            else { return }
            try folder.remove(.record(name))
            removed(name)
        } catch {
            // Reading it again does not make it sound.
        }
    }

    /// Returns what is stored under a key.
    func find(_ key: CacheKey, _ name: CacheName) -> [StoredResponse] {
        guard !isRefused, !isBanned(name), prepare() else { return [] }
        do throws(Errno) {
            var missing: Set<UInt64> = []
            // Somebody may have replaced both between reading the head and the body.
            for _ in 0..<2 {
                let stamp = beginFinding(name)
                guard let record = try readRecord(name) else {
                    notFound(name, stamp)
                    return []
                }
                guard record.key == key else { return [] }
                let found = try responses(record, name)
                if found.count == record.members.count {
                    noteFound(name, record, stamp)
                    return found
                }
                missing = Set(record.members.map(\.id)).subtracting(found.map(\.id))
            }
            remove(name, missing)
            guard let record = try readRecord(name), record.key == key else { return [] }
            return try responses(record, name)
        } catch {
            tell(.reading(error))
            return []
        }
    }

    private func noteFound(_ name: CacheName, _ record: CacheRecord, _ stamp: DiskIndex.Stamp) {
        let noted = noteFound(name, cost: Self.cost(record), stamp)
        for name in noted.thrown { removeAll(name, .thrownOut) }
        if noted.isReadingDue { background { self.readFolder(isDueOnly: true) } }
        if noted.isFirstUse { mark(name) }
    }

    func mark(_ name: CacheName) {
        // Without the mark the next process merely evicts it sooner.
        do throws(Errno) { try folder.mark(name) } catch {}
    }

    /// Returns the responses, except those whose file is missing or has the wrong length.
    func responses(_ record: CacheRecord, _ name: CacheName) throws(Errno) -> [StoredResponse] {
        var responses: [StoredResponse] = []
        for member in record.members {
            guard let body = try body(member, name) else { continue }
            responses.append(StoredResponse(entry: member.entry, level: .disk, body: body, id: member.id))
        }
        return responses
    }

    private func body(_ member: CacheRecord.Member, _ name: CacheName) throws(Errno) -> (any StoredBody)? {
        if let bytes = member.bytes { return MemoryBody(bytes) }
        let count = member.entry.body.range.count
        let status = try folder.status(of: CacheFileName.body(name, member.id).text)
        guard let status, status.kind == .file, status.length == BodyBlocks.fileLength(of: count) else { return nil }
        return FileBody(count: count, name, member.id, of: self)
    }

    // MARK: - Changes

    /// A response to be stored.
    struct Addition: Sendable {
        let name: CacheName
        let member: CacheRecord.Member
        /// The file with the body, if it is long.
        let file: PartFile?
        let replaced: Set<UInt64>
    }

    /// Stores a response, unless `isVoid` returns true under the lock. Returns what is stored under the key from now
    /// on; nil if that is not known.
    func add(_ addition: Addition, isVoid: () -> Bool) -> CacheRecord? {
        guard !isRefused, prepare() else { return nil }
        do throws(Errno) {
            return try addOnce(addition, isVoid)
        } catch {
            var failure = error
            // Somebody has removed the folder.
            if failure.meansNoSuchFile, prepare(again: true) {
                do throws(Errno) { return try addOnce(addition, isVoid) } catch { failure = error }
            }
            tell(.writing(failure))
            remove(addition.name, addition.replaced)
            return nil
        }
    }

    private func addOnce(_ addition: Addition, _ isVoid: () -> Bool) throws(Errno) -> CacheRecord? {
        do throws(Errno) {
            return try change(addition.name) { record throws(Errno) in
                if isVoid() { return false }
                record.remove(addition.replaced)
                guard record.insert(addition.member) else { return false }
                if let file = addition.file { try folder.rename(file, to: .body(addition.name, addition.member.id)) }
                return true
            }
        } catch {
            if addition.file != nil { discardBody(addition.member.id, addition.name) }
            throw error
        }
    }

    /// Replaces the entry of a body. Returns what is stored from now on; nil if that is not known.
    func update(_ id: UInt64, to entry: CacheEntry, _ name: CacheName) -> CacheRecord? {
        guard !isRefused, prepare() else { return nil }
        do throws(Errno) {
            return try change(name) { $0.update(id, to: entry) }
        } catch {
            if !error.meansNoSuchFile { tell(.writing(error)) }
            return nil
        }
    }

    func remove(_ name: CacheName, _ ids: Set<UInt64>) {
        if ids.isEmpty { return }
        guard !isRefused, prepare() else { return }
        do throws(Errno) {
            _ = try change(name) { record in
                let count = record.members.count
                record.remove(ids)
                return record.members.count < count
            }
        } catch {
            removeAll(name, .wanted)
        }
    }

    /// Reads the key's file, changes it and writes it again, under the lock. Bodies that are no longer listed are
    /// removed. Returns nil if `edit` changes nothing.
    private func change(
        _ name: CacheName, _ edit: (inout CacheRecord) throws(Errno) -> Bool
    ) throws(Errno) -> CacheRecord? {
        guard let (new, thrown) = try lockedChange(name, edit) else { return nil }
        // Names may share a lock, so this one's is released first.
        throwOut(thrown)
        return thrown.contains(name) ? nil : new
    }

    /// Makes a change under the lock; also returns the names to evict.
    private func lockedChange(
        _ name: CacheName, _ edit: (inout CacheRecord) throws(Errno) -> Bool
    ) throws(Errno) -> (CacheRecord, thrown: [CacheName])? {
        let lock = try self.lock(name)
        defer { withExtendedLifetime(lock) {} }
        let old = try readRecord(name) ?? CacheRecord()
        var new = old
        guard try edit(&new) else { return nil }
        var thrown: [CacheName] = []
        if new.isEmpty {
            try folder.remove(.record(name))
            removed(name, wasThere: !old.isEmpty)
        } else {
            try write(new, name)
            thrown = stored(name, cost: Self.cost(new))
        }
        for id in old.files.subtracting(new.files) { discardBody(id, name) }
        return (new, thrown)
    }

    private func write(_ record: CacheRecord, _ name: CacheName) throws(Errno) {
        let file = try folder.create()
        do throws(Errno) {
            try folder.write(record.encoded(), at: 0, into: file)
            try folder.rename(file, to: .record(name))
        } catch {
            discard(file)
            throw error
        }
        if isUsed(name) { mark(name) }
    }

    /// Creates a file for a response's body.
    func newFile() throws(Errno) -> PartFile {
        do throws(Errno) { return try folder.create() } catch {
            // Somebody has removed the folder.
            guard error.meansNoSuchFile, prepare(again: true) else { throw error }
            return try folder.create()
        }
    }

    /// Writes into a file, which is created if there is none; returns nil if that fails, and the file is gone then.
    func write(_ bytes: [UInt8], at offset: Int, into file: PartFile?) -> PartFile? {
        var target = file
        do throws(Errno) {
            let open: PartFile
            if let file { open = file } else { open = try newFile() }
            target = open
            try folder.write(bytes, at: offset, into: open)
            return open
        } catch {
            tell(.writing(error))
            if let target { discard(target) }
            return nil
        }
    }

    /// Writes the end of a body into its file; returns false if that fails, and there is no file then.
    func complete(_ finished: CacheWriter.Finished, _ file: inout PartFile?) -> Bool {
        guard case .write(let bytes, let offset) = finished.last else { return true }
        file = write(bytes, at: offset, into: file)
        return file != nil
    }

    /// Returns what is stored under a name, if all of it may be in memory.
    func responsesInMemory(_ record: CacheRecord, _ name: CacheName) -> [StoredResponse]? {
        guard record.files.isEmpty else { return nil }
        do throws(Errno) { return try responses(record, name) } catch { return nil }
    }

    /// Removes an unfinished file. If that fails, a sweep removes it once this process has ended.
    func discard(_ file: PartFile) {
        do throws(Errno) { try file.remove() } catch {}
    }

    /// Removes a body that no head names. If that fails, a sweep removes it later.
    private func discardBody(_ id: UInt64, _ name: CacheName) {
        do throws(Errno) { try folder.remove(.body(name, id)) } catch {}
    }

    private static func cost(_ record: CacheRecord) -> Int {
        record.members.reduce(DiskIndex.cost(ofFile: record.length)) { sum, member in
            let length = BodyBlocks.fileLength(of: member.entry.body.range.count)
            return sum + (member.bytes == nil ? DiskIndex.cost(ofFile: length) : 0)
        }
    }

    // MARK: - Removal

    /// Evicts names, and reads the folder again if that is due.
    func throwOut(_ names: [CacheName]) {
        for name in names { removeAll(name, .thrownOut) }
        if isReadingDue { background { self.readFolder(isDueOnly: true) } }
    }

    /// Why everything under a name is removed.
    enum Removal {
        /// For lack of space. It stays if it was stored again meanwhile.
        case thrownOut
        /// On request: it must not be found any more.
        case wanted
    }

    /// Removes everything under a name. What must not be found and cannot be removed is banned.
    func removeAll(_ name: CacheName, _ removal: Removal) {
        let stamp = beginFinding(name)
        do throws(Errno) {
            let lock = try lockIfPossible(name)
            defer { withExtendedLifetime(lock) {} }
            if removal == .thrownOut, !isLeaving(name) { return }
            let record = try readRecord(name)
            try folder.remove(.record(name))
            removed(name, wasThere: record != nil)
            for id in record?.files ?? [] { discardBody(id, name) }
        } catch {
            if error.meansNoSuchFile || isAbsent(name) { return notFound(name, stamp) }
            if removal == .wanted { ban(name) } else { stays(name) }
            tell(.writing(error))
        }
    }

    private func isAbsent(_ name: CacheName) -> Bool {
        do throws(Errno) { return try folder.status(of: CacheFileName.record(name).text) == nil } catch { return false }
    }

    /// Locks a name if possible; the lock's owner may have been stopped. Files are removed all the same: at worst, what
    /// was stored before comes back.
    private func lockIfPossible(_ name: CacheName) throws(Errno) -> FileLock? {
        do throws(Errno) { return try self.lock(name) } catch {
            if error.meansLocked { return nil }
            throw error
        }
    }

    /// Removes a body of which a block is damaged.
    func damaged(_ name: CacheName, _ id: UInt64) {
        tell(.damage)
        background { self.remove(name, [id]) }
    }
}
