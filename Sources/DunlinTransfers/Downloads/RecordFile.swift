internal import DunlinReactor

/// A record on a disk, open to be kept up to date. Every call is for a disk thread.
struct RecordFile: Sendable {
    private let file: PartFile
    private var record: ResumeRecord

    /// Writes a new record with room for so many pieces in the place of any that is there, in one step.
    init(_ data: ResumeData, pieces: Int, at path: String) throws(Errno) {
        let record = ResumeRecord(data, capacity: pieces)
        do throws(Errno) {
            file = try Self.make(record.bytes, at: path)
        } catch  where error.meansNoSuchFile || error.meansLocked || error.meansExisting {
            // A sweep found what a dead process left there, and met ours in its place. It does so once.
            file = try Self.make(record.bytes, at: path)
        }
        self.record = record
    }

    /// The draft has the same name each time: what a process leaves there that is killed meanwhile is the next one's.
    /// Nobody else writes to it, for a record belongs to whoever has its part file.
    private static func make(_ bytes: [UInt8], at path: String) throws(Errno) -> PartFile {
        let draft = Placement.draftPath(ofRecord: path)
        try FileSystem.remove(draft)
        let file = try PartFile(creating: draft, permissions: 0o600)
        do throws(Errno) {
            try write(bytes, to: file, at: 0)
            try FileSystem.move(draft, to: path, overwriting: true)
        } catch {
            Publication.discard(file)
            throw error
        }
        return file
    }

    /// Now these are there, and nothing else.
    mutating func note(_ pieces: [ResumeData.Piece]) throws(Errno) {
        let update = record.advance(to: pieces)
        try Self.write(update.bytes, to: file, at: update.offset)
    }

    private static func write(_ bytes: [UInt8], to file: PartFile, at offset: Int) throws(Errno) {
        try Bytes(bytes).withUnsafeBytes { bytes throws(Errno) in try file.write(bytes, at: offset) }
    }

    /// What was written there; nil if nothing was, or not by us. Throws `invalidResumeData` for what is no record.
    static func read(_ path: String) throws -> ResumeRecord? {
        guard let file = try open(path) else { return nil }
        guard file.length <= ResumeRecord.longest else {
            throw NetworkError(.invalidResumeData, "what lies where the record should be is none")
        }
        return try ResumeRecord(file.read(at: 0, upTo: file.length))
    }

    private static func open(_ path: String) throws(Errno) -> OpenFile? {
        do throws(Errno) {
            return try OpenFile(own: path)
        } catch {
            if error.meansNoSuchFile || error.meansForeign { return nil }
            throw error
        }
    }

    /// Whether nothing is in the way of a record there that somebody else has put there, and that may not be ours to
    /// remove.
    static func mayBeMade(at path: String) throws(Errno) -> Bool {
        for name in [path, Placement.draftPath(ofRecord: path)] {
            guard let status = try FileSystem.status(of: name) else { continue }
            guard status.kind == .file, status.ownership.owner == FileSystem.user else { return false }
        }
        return true
    }
}
