internal import DunlinReactor
internal import Synchronization

/// A record on a disk, open to be kept up to date. Every call is for a disk thread.
final class RecordFile: Sendable {
    private let file: PartFile
    private let record: Mutex<ResumeRecord>

    /// Writes a new record with room for so many pieces in the place of any that is there, in one step.
    init(_ data: ResumeData, pieces: Int, at path: String) throws(Errno) {
        let record = ResumeRecord(data, capacity: pieces)
        let draft = Self.draft(of: path)
        file = try Self.open(draft)
        do throws(Errno) {
            try Self.write(record.bytes, to: file, at: 0)
            try FileSystem.move(draft, to: path, overwriting: true)
        } catch {
            Publication.discard(file)
            throw error
        }
        self.record = Mutex(record)
    }

    /// The same each time: what a process leaves there that is killed meanwhile is the next one's. Nobody else writes
    /// to it, for a record belongs to whoever has its part file.
    static func draft(of path: String) -> String {
        Placement(folder: Placement.folder(of: path), suggestedName: "").partPath(Placement.hash(of: path))
    }

    private static func open(_ draft: String) throws(Errno) -> PartFile {
        do throws(Errno) {
            return try PartFile(creating: draft)
        } catch  where error.meansExisting {
            let file = try PartFile(opening: draft)
            try file.truncate(to: 0)
            return file
        }
    }

    /// Now these are there, and nothing else. One may call it at a time.
    func note(_ pieces: [ResumeData.Piece]) throws(Errno) {
        let update = record.withLock { $0.advance(to: pieces) }
        try Self.write(update.bytes, to: file, at: update.offset)
    }

    private static func write(_ bytes: [UInt8], to file: PartFile, at offset: Int) throws(Errno) {
        try Bytes(bytes).withUnsafeBytes { bytes throws(Errno) in try file.write(bytes, at: offset) }
    }

    /// What was written there; nil if nothing was. Throws `invalidResumeData` for what is no record.
    static func read(_ path: String) throws -> ResumeRecord? {
        guard let status = try FileSystem.status(of: path) else { return nil }
        guard status.kind == .file, status.length <= ResumeRecord.longest else {
            throw NetworkError(.invalidResumeData, "what lies where the record should be is none")
        }
        return try ResumeRecord(OpenFile(path).read(at: 0, upTo: status.length))
    }
}
