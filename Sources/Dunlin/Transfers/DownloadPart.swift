internal import DunlinReactor

/// A part file with who writes it and the place of its record.
///
/// Everything but the writing is for a disk thread, while nobody writes.
struct DownloadPart: Sendable {
    let writer: DownloadWriter

    var file: PartFile { writer.file }
    private var recordPath: String { Placement.recordPath(ofPart: file.path) }

    init(_ writer: DownloadWriter) {
        self.writer = writer
    }

    /// A new file; one that is there already, which nobody else uses, if that may be.
    static func open(_ path: String, mayBeThere: Bool) throws(HTTPSession.FileFailure) -> PartFile {
        do throws(Errno) {
            do throws(Errno) {
                return try PartFile(creating: path)
            } catch  where mayBeThere && error.meansExisting {
                return try PartFile(opening: path)
            }
        } catch {
            throw HTTPSession.FileFailure(path, error)
        }
    }

    /// Empties it for a body of `length` bytes, if that is known and room is wanted for it. With `data` a record speaks
    /// of it from now on; it comes first, so that none ever speaks of bytes that are not there.
    func begin(_ data: ResumeData?, length: Int?) throws(HTTPSession.FileFailure) {
        do throws(Errno) {
            var record: RecordFile?
            if let data { record = try RecordFile(data, at: recordPath) } else { try FileSystem.remove(recordPath) }
            try writer.begin(record)
            if let length, length > 0 { try file.allocate(length) }
        } catch {
            throw HTTPSession.FileFailure(file.path, error)
        }
    }

    /// Goes on after what `data` says is there; false if it is not, or is something else.
    func takeUp(_ data: ResumeData, unless isOver: () -> Bool) throws(Errno) -> Bool {
        guard let piece = ResumeMachine.prefix(of: data, partLength: try file.status().length),
            try writer.takeUp(piece, unless: isOver)
        else { return false }
        writer.keep(try RecordFile(data.with(pieces: [piece]), at: recordPath))
        return true
    }

    /// Stays, to be gone on with: what to do that with. Nil if that cannot be, and then nothing stays.
    func leave(_ data: (ResumeData.Piece) -> ResumeData) -> ResumeData? {
        do throws(Errno) {
            let data = data(try writer.piece())
            if try !writer.updateRecord() { _ = try RecordFile(data, at: recordPath) }
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
