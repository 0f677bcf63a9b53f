internal import DunlinReactor

/// The folder of a journal's entries, with one file for each. Every call may wait for the disk.
///
/// An entry belongs to the process that has locked its file. The kernel releases the lock when the process ends, so
/// nobody works on an unlocked entry. A file's contents never change: to change an entry, its owner writes another
/// file, locks it, and renames it over the old one. So others see either the old or the new state, always locked.
/// Whoever locks the old file too late finds that its name belongs to another. Each step is on disk before the next
/// begins.
struct JournalFolder: Sendable {
    let path: String

    private static let entrySuffix = ".transfer"
    private static let newSuffix = ".transfer-new"
    private static let damagedSuffix = ".transfer-damaged"
    /// The age in seconds at which a file that never got an entry's name is nobody's.
    private static let minimumAge = 60

    /// What was found under an entry's name.
    indirect enum Finding: Sendable {
        case entry(JournalEntry, PartFile)
        /// Another process has it, or another journal of this process.
        case inUse
        /// It was set aside under the name `path`.
        case damaged(path: String, JournalEntry.Damage)
        case unreadable(HTTPSession.FileFailure)
    }

    /// Creates the folder if it is missing, for this user only, and removes files that never became entries.
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

    /// Checks that only this user may write to the folder: others could have a journal send any of our files to
    /// anybody.
    private func check() throws(HTTPSession.FileFailure) {
        let fault = try naming(path) { () throws(Errno) in try FileSystem.fault(ofFolder: path) }
        if let fault { throw HTTPSession.FileFailure(path, fault) }
    }

    /// The IDs of all entries, whoever works on them.
    func ids() throws(HTTPSession.FileFailure) -> [String] {
        try check()
        return try naming(path) { () throws(Errno) in
            try FileSystem.names(in: path).filter { $0.hasSuffix(Self.entrySuffix) }
                .map { String($0.dropLast(Self.entrySuffix.count)) }.filter { JournalEntry.isID($0) }.sorted()
        }
    }

    /// Saves a new entry, which is ours.
    func add(_ entry: JournalEntry, _ bytes: [UInt8]) throws(HTTPSession.FileFailure) -> PartFile {
        let name = file(entry.id + Self.entrySuffix)
        return try naming(name) { () throws(Errno) in
            try write(bytes, entry.id, as: name, overwriting: false)
        }
    }

    /// Saves a new state of an entry that is ours.
    func rewrite(_ id: String, _ bytes: [UInt8]) throws(HTTPSession.FileFailure) -> PartFile {
        let name = file(id + Self.entrySuffix)
        return try naming(name) { () throws(Errno) in
            try write(bytes, id, as: name, overwriting: true)
        }
    }

    /// Takes an entry if nobody else has it and only this user can have written it; nil if it is gone.
    func take(_ id: String) -> Finding? {
        let name = file(id + Self.entrySuffix)
        do throws(Errno) {
            let part: PartFile
            switch try PartFile.found(at: name, needsLock: true) {
            case .success(let own): part = own
            case .failure(let fault): return .unreadable(HTTPSession.FileFailure(name, fault))
            }
            // A new state that a process was about to write when it ended.
            try FileSystem.remove(file(id + Self.newSuffix))
            do throws(JournalEntry.Damage) {
                return .entry(try JournalEntry(try Self.contents(of: part), id: id), part)
            } catch {
                let aside = file(id + Self.damagedSuffix)
                try FileSystem.move(name, to: aside, overwriting: true)
                // Keeps the lock until the file has its new name.
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

    /// The file at the path that an entry names; nil if there is none, or none can be examined.
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
        // Left from an earlier attempt of ours that failed.
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
            // Nobody may later find an entry that the caller was told does not exist.
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

    /// Removes a file if it is not locked. What cannot be removed is examined again when the journal is next opened.
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
    /// Describes a file that has this name, or is about to have it.
    init(_ path: String, _ status: FileStatus) {
        self.init(path: path, number: status.number, length: status.length, modified: status.modified)
    }
}
