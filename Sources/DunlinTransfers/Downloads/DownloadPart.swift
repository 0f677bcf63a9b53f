internal import DunlinReactor
internal import DunlinSecure

/// A part file with who writes it and the place of its record.
///
/// Everything but the writing is for a disk thread, while nobody writes.
struct DownloadPart: Sendable {
    let content: PartContent
    /// Of the exchange that brings the file, or of the first of several.
    let writer: DownloadWriter
    /// For how many pieces the record has room.
    let pieces: Int
    /// Whether a later download finds it by its name.
    let isFindable: Bool

    var file: PartFile { content.file }
    private var recordPath: String { Placement.recordPath(ofPart: file.path) }

    /// Throws if no such digest can be made.
    init(
        _ file: PartFile, isFindable: Bool, digest algorithm: ContentDigest.Algorithm?, pieces: Int, on loop: Reactor
    ) throws(Digester.Unavailable) {
        content = try PartContent(file, digest: algorithm)
        writer = DownloadWriter(content, on: loop)
        self.pieces = pieces
        self.isFindable = isFindable
    }

    /// A new file.
    static func make(_ path: String) throws(HTTPSession.FileFailure) -> PartFile {
        do throws(Errno) { return try PartFile(creating: path) } catch { throw HTTPSession.FileFailure(path, error) }
    }

    /// One that a later download finds again: that which is there already, if nobody else uses it. Nil where no lock
    /// can tell, and where something that is not ours has that name, or its record's: nothing of that is touched.
    static func claim(_ path: String) throws(HTTPSession.FileFailure) -> PartFile? {
        do throws(Errno) {
            guard try RecordFile.mayBeMade(at: Placement.recordPath(ofPart: path)) else { return nil }
            do throws(Errno) {
                return try PartFile(creating: path, needsLock: true)
            } catch  where error.meansExisting {
                return try open(path)
            }
        } catch {
            if error.meansNoLocks { return nil }
            throw HTTPSession.FileFailure(path, error)
        }
    }

    private static func open(_ path: String) throws(Errno) -> PartFile? {
        do throws(Errno) {
            return try PartFile(opening: path, needsLock: true)
        } catch  where error.meansForeign {
            return nil
        }
    }

    /// Empties it for a body of `length` bytes, if that is known and room is wanted for it. With `data` a record speaks
    /// of it from now on; it comes first, so that none ever speaks of bytes that are not there.
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

    /// Goes on after what `data` says is there; false if it is not, or is something else.
    func takeUp(_ data: ResumeData, unless isOver: () -> Bool) throws(Errno) -> Bool {
        let pieces = ResumeMachine.pieces(of: data, partLength: try file.status().length)
        guard !pieces.isEmpty, try content.takeUp(pieces, unless: isOver) else { return false }
        content.keep(try makeRecord(data.with(pieces: pieces)))
        writer.move(to: content.prefixEnd)
        return true
    }

    private func makeRecord(_ data: ResumeData) throws(Errno) -> RecordFile {
        // What is missing between pieces may be brought in many.
        let isOne = pieces == 1 && (data.pieces.isEmpty || data.offset == data.byteCount)
        return try RecordFile(data, pieces: isOne ? max(1, data.pieces.count) : ResumeRecord.manyPieces, at: recordPath)
    }

    /// Stays, to be gone on with: what to do that with. Nil if that cannot be, and then nothing stays.
    func leave(_ data: ([ResumeData.Piece]) -> ResumeData) -> ResumeData? {
        do throws(Errno) {
            let data = data(try content.pieces())
            if try !content.updateRecord() { _ = try makeRecord(data) }
            return data
        } catch {
            discard()
            return nil
        }
    }

    /// Goes away, the record first.
    func discard() {
        forget()
        Publication.discard(file)
    }

    /// The record goes away.
    func forget() {
        // A record without its part file speaks of nothing, and is swept.
        do throws(Errno) { try FileSystem.remove(recordPath) } catch {}
    }
}
