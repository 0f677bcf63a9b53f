internal import Dunlin
internal import DunlinReactor

/// The file that entries are written to. It is a whole archive after each of them: an entry is written over the closing
/// brackets, with new ones behind it. Its methods wait for a disk.
final class HARFile {
    private let file: PartFile
    /// Where the next entry is to be written.
    private var end: Int
    private var isEmpty: Bool
    private(set) var entries = 0

    /// Creates the file, or opens one that was written before.
    init(_ path: String, _ existing: HARRecorder.Existing, _ start: HAR) throws(HAR.Problem) {
        do {
            do throws(Errno) {
                file = try PartFile(creating: path, permissions: 0o600)
            } catch {
                guard error.meansExisting, existing == .append else { throw error }
                file = try PartFile(opening: path)
            }
            if file.newPermissions == nil, let position = try Self.position(in: file) {
                (end, isEmpty) = (position.end, position.isEmpty)
            } else {
                // The text of an archive without entries ends with the brackets.
                let text = try start.text
                (end, isEmpty) = (text.count - Self.brackets.count, true)
                try text.withUnsafeBytes { bytes throws(Errno) in try file.write(bytes, at: 0) }
            }
        } catch let problem as HAR.Problem {
            throw HAR.Problem(path: path, line: problem.line, reason: problem.reason)
        } catch let error as Errno {
            throw HAR.Problem(path: path, reason: Self.reason(of: error))
        } catch {
            throw HAR.Problem(path: path, reason: "\(error)")
        }
    }

    private static let brackets = Array("]}}".utf8)

    private static func reason(of error: Errno) -> String {
        if error.meansExisting { return "it exists; choose another name, or `existing: .append`" }
        if error.meansLocked { return "another recorder writes to it" }
        return "it cannot be written to: \(error)"
    }

    /// Where entries are to be appended to an existing file, and whether there are none; nil if it is empty. Throws if
    /// something other than the brackets follows the entries, which would be lost.
    private static func position(in file: PartFile) throws -> (end: Int, isEmpty: Bool)? {
        var (archive, offset) = (TornArchive(), 0)
        while true {
            let piece = Bytes(try file.read(at: offset, upTo: 1 << 20))
            if piece.isEmpty { break }
            archive.take(piece)
            offset += piece.count
        }
        if offset == 0 { return nil }
        guard let end = archive.end else { throw HAR.Problem(reason: "it is no HTTP archive") }
        let rest = try file.read(at: end, upTo: 256).filter { $0 > 0x20 }
        let isOurs = rest == brackets || rest.starts(with: Array("],\"_lost\":".utf8))
        guard !archive.isClosed || isOurs && rest.count < 256 else {
            throw HAR.Problem(reason: "something follows its entries, which appending would remove")
        }
        return (end, archive.endOfEntries == nil)
    }

    /// Writes an entry. If that fails, what was there before is restored as well as it can be.
    func append(_ entry: Bytes, lost: Int) throws(Errno) {
        let lead = isEmpty ? "\n" : ",\n"
        let text = Array(lead.utf8) + entry.array
        do throws(Errno) {
            try write(text, lost)
        } catch {
            do throws(Errno) { try write([], lost) } catch {}
            throw error
        }
        end += text.count
        (isEmpty, entries) = (false, entries + 1)
    }

    /// Writes how many entries were lost.
    func close(lost: Int) throws(Errno) {
        if lost > 0 { try write([], lost) }
        try file.sync()
    }

    private func write(_ entry: [UInt8], _ lost: Int) throws(Errno) {
        let tail = "\n]" + (lost > 0 ? ",\"_lost\":\(lost)" : "") + "}}\n"
        let text = Bytes(entry + Array(tail.utf8))
        try text.withUnsafeBytes { bytes throws(Errno) in try file.write(bytes, at: end) }
        if try file.status().length > end + text.count { try file.truncate(to: end + text.count) }
    }
}
