internal import DunlinReactor

/// An open record file. All calls are for disk threads.
struct RecordFile: Sendable {
    private let file: PartFile
    private var record: ResumeRecord

    /// Creates a record with room for `pieces` pieces, replacing an existing one in a single step.
    init(_ data: ResumeData, pieces: Int, at path: String) throws(Errno) {
        let record = ResumeRecord(data, capacity: pieces)
        do throws(Errno) {
            file = try Self.make(record.bytes, at: path)
        } catch  where error.meansNoSuchFile || error.meansLocked || error.meansExisting {
            // A sweep that found the draft of an ended process may have met ours instead. That happens only once.
            file = try Self.make(record.bytes, at: path)
        }
        self.record = record
    }

    /// Creates the file as a draft, whose name is always the same, so the next process replaces what a killed one left.
    /// Nobody else writes to it, because a record belongs to the owner of its part file.
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

    /// Records that exactly these pieces are there.
    mutating func note(_ pieces: [ResumeData.Piece]) throws(Errno) {
        let update = record.advance(to: pieces)
        try Self.write(update.bytes, to: file, at: update.offset)
    }

    private static func write(_ bytes: [UInt8], to file: PartFile, at offset: Int) throws(Errno) {
        try Bytes(bytes).withUnsafeBytes { bytes throws(Errno) in try file.write(bytes, at: offset) }
    }

    /// Reads the record at a path; nil if there is none or it is not ours. Throws `invalidResumeData` for a file that
    /// is not a record.
    static func read(_ path: String) throws -> ResumeRecord? {
        guard let file = try open(path) else { return nil }
        guard file.length <= ResumeRecord.longest else {
            throw ResumeRecord.tooLong(file.length, path)
        }
        return try ResumeRecord(file.read(at: 0, upTo: file.length), at: path)
    }

    private static func open(_ path: String) throws(Errno) -> OpenFile? {
        do throws(Errno) {
            return try OpenFile(own: path)
        } catch {
            if error.meansNoSuchFile || error.meansNotOurs { return nil }
            throw error
        }
    }

    /// Whether a record can be created there: its place is free, or holds a file of this user that may be replaced.
    static func mayBeMade(at path: String) throws(Errno) -> Bool {
        for name in [path, Placement.draftPath(ofRecord: path)] {
            guard let status = try FileSystem.status(of: name) else { continue }
            guard status.kind == .file, status.ownership.owner == FileSystem.user else { return false }
        }
        return true
    }
}
