internal import DunlinReactor
internal import DunlinSecure

/// A part file with its writer and the path of its record.
///
/// Everything except the writer must be used on a disk thread, while nothing is written.
struct DownloadPart: Sendable {
    let content: PartContent
    /// The writer of the exchange that brings the file, or of the first of several exchanges.
    let writer: DownloadWriter
    /// The number of pieces for which the record has room.
    let pieces: Int
    /// Whether a later download can find the part by its name.
    let isFindable: Bool

    var file: PartFile { content.file }
    private var recordPath: String { Placement.recordPath(ofPart: file.path) }

    /// Throws if the digest cannot be computed.
    init(
        _ file: PartFile, isFindable: Bool, digest algorithm: ContentDigest.Algorithm?, pieces: Int, on loop: Reactor
    ) throws(Digester.Unavailable) {
        content = try PartContent(file, digest: algorithm)
        writer = DownloadWriter(content, on: loop)
        self.pieces = pieces
        self.isFindable = isFindable
    }

    /// Creates a new file with a name that nobody else uses. A sweep may have it locked at first.
    static func make(in placement: Placement) throws(HTTPSession.FileFailure) -> PartFile {
        var (random, triesLeft) = (SystemRandomNumberGenerator(), 100)
        while true {
            let path = placement.partPath(random.next())
            do throws(Errno) {
                return try PartFile(creating: path)
            } catch {
                triesLeft -= 1
                guard error.meansLocked, triesLeft > 0 else { throw HTTPSession.FileFailure(path, error) }
            }
        }
    }

    /// A file that a later download can find: the existing one if nobody else uses it, or a new one. Nil if the file
    /// system has no locks, if a sweep has the new one locked, or if something that is not ours has the file's name or
    /// its record's; that is left untouched. `opened` is called for a new file that is not yet locked; for tests.
    static func claim(_ path: String, opened: () -> Void = {}) throws(HTTPSession.FileFailure) -> PartFile? {
        do throws(Errno) {
            guard try RecordFile.mayBeMade(at: Placement.recordPath(ofPart: path)) else { return nil }
            do throws(Errno) {
                return try PartFile(creating: path, needsLock: true, opened: opened)
            } catch  where error.meansExisting {
                return try open(path)
            } catch  where error.meansLocked {
                return nil
            }
        } catch {
            if error.meansNoLocks { return nil }
            throw HTTPSession.FileFailure(path, error)
        }
    }

    private static func open(_ path: String) throws(Errno) -> PartFile? {
        do throws(Errno) {
            return try PartFile(opening: path, needsLock: true)
        } catch  where error.meansNotOurs {
            return nil
        }
    }

    /// Empties the file for a body of `length` bytes, if that is known and space is to be reserved. With `data`, a
    /// record describes the file from now on; it is written first, so that no record ever lists bytes that are missing.
    func begin(_ data: ResumeData?, length: Int?) throws(HTTPSession.FileFailure) {
        do throws(Errno) {
            var record: RecordFile?
            if let data { record = try makeRecord(data) } else { try FileSystem.remove(recordPath) }
            try content.begin(record)
            writer.move(to: 0)
            if let length, length > 0 { try file.allocate(length) }
        } catch {
            throw HTTPSession.FileFailure(file.path, error)
        }
    }

    /// Continues after the pieces of `data`. Returns false if they are missing or changed.
    func takeUp(_ data: ResumeData, unless isOver: () -> Bool) throws(Errno) -> Bool {
        let pieces = ResumeMachine.pieces(of: data, partLength: try file.status().length)
        guard !pieces.isEmpty, try content.takeUp(pieces, unless: isOver) else { return false }
        // Its process may have been killed, and have written or reserved more.
        try content.trim()
        content.keep(try makeRecord(data.with(pieces: pieces)))
        writer.move(to: content.prefixEnd)
        return true
    }

    private func makeRecord(_ data: ResumeData) throws(Errno) -> RecordFile {
        // The gaps between pieces may be filled by many pieces.
        let isOne = pieces == 1 && (data.pieces.isEmpty || data.offset == data.byteCount)
        return try RecordFile(data, pieces: isOne ? max(1, data.pieces.count) : ResumeRecord.manyPieces, at: recordPath)
    }

    /// Keeps the file and returns the data to continue from. Nothing stays reserved: the length was the server's word.
    /// If that is impossible, or `isOver` says that there is no time to read the file again, removes the file and
    /// returns nil. A record is left only by a name at which a later download finds it: it holds the whole URL, and
    /// what has one is never swept.
    func leave(
        withRecord isRecorded: Bool, unless isOver: () -> Bool, _ data: ([ResumeData.Piece]) -> ResumeData
    ) -> ResumeData? {
        do throws(Errno) {
            let data = data(try content.pieces(unless: isOver))
            try content.trim()
            if !isRecorded || Placement.isAnonymous(file.path) {
                try FileSystem.remove(recordPath)
            } else if try !content.updateRecord() {
                _ = try makeRecord(data)
            }
            return data
        } catch {
            discard()
            return nil
        }
    }

    /// Removes the record, then the file.
    func discard() {
        forget()
        Publication.discard(file)
    }

    /// Removes the record.
    func forget() {
        // A record without its part file is useless and will be swept later.
        do throws(Errno) { try FileSystem.remove(recordPath) } catch {}
    }
}
