internal import DunlinReactor

/// The folder of a journal's entries, one file each. Every call may wait for a disk.
///
/// An entry belongs to whoever has its file locked. The lock is the kernel's and ends with the process, so nobody works
/// at an entry that is not locked. A file's contents never change: to change an entry, its owner writes another file,
/// locks it, and renames it over the old one. So others see the old state or the new, and neither without a lock. If
/// somebody locks the old file too late, its name is another's by then. Each step is on the disk before the next
/// begins.
struct JournalFolder: Sendable {
    let path: String

    private static let entrySuffix = ".transfer"
    private static let newSuffix = ".transfer-new"
    private static let damagedSuffix = ".transfer-damaged"
    /// Older files that were never given an entry's name belong to nobody who is still at it.
    private static let minimumAge = 60

    /// What was found under an entry's name.
    enum Finding: Sendable {
        case entry(JournalEntry, PartFile)
        /// Somebody else's: another process's, or another journal's of this one.
        case inUse
        /// Set aside under the name `path`.
        case damaged(path: String, JournalEntry.Damage)
        case unreadable(HTTPSession.FileFailure)
    }

    /// Makes the folder if there is none, for this user alone, and removes what never became an entry.
    func open() throws(HTTPSession.FileFailure) {
        try naming(path) { () throws(Errno) in
            if try FileSystem.status(of: path) == nil {
                try FileSystem.makeFolders(path, permissions: 0o700)
                try FileSystem.syncFolder(Placement.folder(of: path))
            }
        }
        try check()
        try naming(path) { () throws(Errno) in
            for name in try FileSystem.names(in: path) where name.hasSuffix(Self.newSuffix) {
                guard let status = try FileSystem.status(of: file(name)) else { continue }
                if status.isOlder(than: Self.minimumAge, at: Int(WallClock.seconds)) {
                    Self.removeUnlocked(file(name))
                }
            }
        }
    }

    /// Whoever may write here may have a journal send any file of ours to anybody.
    private func check() throws(HTTPSession.FileFailure) {
        let fault = try naming(path) { () throws(Errno) in try FileSystem.fault(ofFolder: path) }
        if let fault { throw HTTPSession.FileFailure(path, fault) }
    }

    /// Those of all entries, whoever works at them.
    func ids() throws(HTTPSession.FileFailure) -> [String] {
        try check()
        return try naming(path) { () throws(Errno) in
            try FileSystem.names(in: path).filter { $0.hasSuffix(Self.entrySuffix) }
                .map { String($0.dropLast(Self.entrySuffix.count)) }.filter { JournalEntry.isID($0) }.sorted()
        }
    }

    /// Writes down a new entry, which is ours.
    func add(_ entry: JournalEntry, _ bytes: [UInt8]) throws(HTTPSession.FileFailure) -> PartFile {
        let name = file(entry.id + Self.entrySuffix)
        return try naming(name) { () throws(Errno) in
            try write(bytes, entry.id, as: name, overwriting: false)
        }
    }

    /// Writes down another state of an entry that is ours.
    func rewrite(_ id: String, _ bytes: [UInt8]) throws(HTTPSession.FileFailure) -> PartFile {
        let name = file(id + Self.entrySuffix)
        return try naming(name) { () throws(Errno) in
            try write(bytes, id, as: name, overwriting: true)
        }
    }

    /// Takes an entry, if nobody else has it and nobody else can have written it. Nil if it is gone.
    func take(_ id: String) -> Finding? {
        let name = file(id + Self.entrySuffix)
        do throws(Errno) {
            let part: PartFile
            switch try PartFile.found(at: name, needsLock: true) {
            case .success(let own): part = own
            case .failure(let fault): return .unreadable(HTTPSession.FileFailure(name, fault))
            }
            // What somebody was about to write when its process ended.
            try FileSystem.remove(file(id + Self.newSuffix))
            do throws(JournalEntry.Damage) {
                return .entry(try JournalEntry(try Self.contents(of: part), id: id), part)
            } catch {
                let aside = file(id + Self.damagedSuffix)
                try FileSystem.move(name, to: aside, overwriting: true)
                // Locked until it has its other name.
                withExtendedLifetime(part) {}
                try FileSystem.syncFolder(path)
                return .damaged(path: aside, error)
            }
        } catch {
            if error.meansLocked { return .inUse }
            if error.meansNoSuchFile { return nil }
            return .unreadable(HTTPSession.FileFailure(name, error))
        }
    }

    /// Removes an entry that is ours.
    func forget(_ id: String) throws(HTTPSession.FileFailure) {
        let name = file(id + Self.entrySuffix)
        try naming(name) { () throws(Errno) in
            try FileSystem.remove(name)
            try FileSystem.syncFolder(path)
        }
    }

    /// What lies where an entry says that its file is; nil if there is nothing, or none of its name can be looked at.
    static func named(_ path: String) -> JournalEntry.NamedFile? {
        do throws(Errno) {
            guard let status = try FileSystem.status(of: path), status.kind == .file else { return nil }
            return JournalEntry.NamedFile(path, status)
        } catch {
            return nil
        }
    }
}

extension JournalFolder {
    private func file(_ name: String) -> String { "\(path)/\(name)" }

    private func write(
        _ bytes: [UInt8], _ id: String, as name: String, overwriting: Bool
    ) throws(Errno) -> PartFile {
        let new = file(id + Self.newSuffix)
        // Of an earlier attempt of ours that failed.
        try FileSystem.remove(new)
        let part = try PartFile(creating: new, permissions: 0o600, needsLock: true)
        do throws(Errno) {
            try Bytes(bytes).withUnsafeBytes { bytes throws(Errno) in try part.write(bytes, at: 0) }
            try part.sync()
            try FileSystem.move(new, to: name, overwriting: overwriting)
        } catch {
            Self.removeUnlocked(new)
            throw error
        }
        do throws(Errno) {
            try FileSystem.syncFolder(path)
        } catch {
            // Nobody is to find later what its caller was told is not there.
            if !overwriting { Self.removeUnlocked(name) }
            throw error
        }
        return part
    }

    private static func contents(of part: PartFile) throws(JournalEntry.Damage) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(Errno) {
            while bytes.count <= JournalEntry.longest {
                let piece = try part.read(at: bytes.count, upTo: 64 << 10)
                if piece.isEmpty { break }
                bytes += piece
            }
        } catch {
            throw JournalEntry.Damage("it cannot be read: \(error)")
        }
        return bytes
    }

    /// What cannot be removed is looked at again when the journal is opened the next time.
    private static func removeUnlocked(_ path: String) {
        do throws(Errno) { try FileSystem.remove(path) } catch {}
    }

    private func naming<Value>(
        _ path: String, _ work: () throws(Errno) -> Value
    ) throws(HTTPSession.FileFailure) -> Value {
        do throws(Errno) { return try work() } catch { throw HTTPSession.FileFailure(path, error) }
    }
}

extension JournalEntry.NamedFile {
    /// A file that has this name, or is about to have it.
    init(_ path: String, _ status: FileStatus) {
        self.init(path: path, number: status.number, length: status.length, modified: status.modified)
    }
}
