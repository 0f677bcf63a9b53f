internal import Dunlin
internal import DunlinReactor

/// The file that entries are written to. It is a whole archive after each of them: an entry is written over the closing
/// brackets, with new ones behind it. Its methods wait for a disk.
final class HARFile {
    private let file: PartFile
    /// Where the next entry is to be written.
    private var end: Int
    private var isEmpty: Bool
    /// How many entries were lost when the archive was written before.
    let lostBefore: Int
    /// The names that the archive says were secret for all of its entries, in lower case.
    let secretNames: Set<String>

    /// Creates the file, or opens one that was written before. `replaces`: it is emptied, unless somebody writes to it.
    init(
        _ path: String, _ existing: HARRecorder.Existing, _ start: HAR, replaces: Bool = false
    ) throws(HAR.Problem) {
        do {
            let opened: PartFile
            do throws(Errno) {
                opened = try PartFile(creating: path, permissions: 0o600)
            } catch {
                guard error.meansExisting, existing == .append else { throw error }
                opened = try PartFile(opening: path)
            }
            if replaces { try opened.truncate(to: 0) }
            if try opened.status().length == 0 {
                let text = try start.text
                try text.withUnsafeBytes { bytes throws(Errno) in try opened.write(bytes, at: 0) }
            }
            let position = try Self.position(in: opened)
            (end, isEmpty, lostBefore) = (position.end, position.isEmpty, position.lost)
            secretNames = Self.secretNames(in: try opened.read(at: 0, upTo: position.begin))
            // Not before it is known to be an archive.
            try opened.setPermissions(0o600)
            file = opened
        } catch let problem as HAR.Problem {
            throw HAR.Problem(path: path, line: problem.line, reason: problem.reason)
        } catch let error as Errno {
            throw HAR.Problem(path: path, reason: Self.reason(of: error))
        } catch {
            throw HAR.Problem(path: path, reason: "\(error)")
        }
    }

    private static func reason(of error: Errno) -> String {
        if error.meansExisting { return "it exists; choose another name, or `existing: .append`" }
        if error.meansLocked { return "another recorder writes to it" }
        return "it cannot be written to: \(error)"
    }

    private struct Position {
        /// Where the entries begin, and where the next one is to be written.
        let begin: Int
        let end: Int
        let isEmpty: Bool
        let lost: Int
    }

    /// Where entries are to be appended. Throws if something other than the brackets follows the entries, which would
    /// be lost.
    private static func position(in file: PartFile) throws -> Position {
        var (archive, offset) = (TornArchive(), 0)
        while true {
            let piece = Bytes(try file.read(at: offset, upTo: 1 << 20))
            if piece.isEmpty { break }
            archive.take(piece)
            offset += piece.count
        }
        guard let begin = archive.begin, let end = archive.end else {
            throw HAR.Problem(reason: "it is no HTTP archive")
        }
        let isEmpty = archive.endOfEntries == nil
        // A torn end is written over.
        if !archive.isClosed { return Position(begin: begin, end: end, isEmpty: isEmpty, lost: 0) }
        let rest = String(decoding: try file.read(at: end, upTo: 256).filter { $0 > 0x20 }, as: UTF8.self)
        let digits = rest.hasPrefix(lostMember) ? rest.dropFirst(lostMember.count).prefix(while: \.isNumber) : "0"
        guard offset - end <= 256, let lost = Int(digits), rest == "]}}" || rest == "\(lostMember)\(digits)}}" else {
            throw HAR.Problem(reason: "something follows its entries, which appending would remove")
        }
        return Position(begin: begin, end: end, isEmpty: isEmpty, lost: lost)
    }

    /// The names in what stands before the entries, which is an archive without entries once it is closed.
    private static func secretNames(in head: [UInt8]) -> Set<String> {
        do throws(HAR.Problem) {
            return HTTP.SecretFields(try HAR(Bytes(head + Array("]}}".utf8))).secretNames ?? []).more
        } catch {
            // It is not for the recorder to judge, and each entry has its own names then.
            return []
        }
    }

    private static let lostMember = "],\"_lost\":"

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
        isEmpty = false
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
