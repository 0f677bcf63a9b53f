internal import DunlinSemantics

/// The parts of a multipart body (RFC 2046 §5.1), so that each can be judged by its name.
///
/// Rules:
/// 1. The text begins with a delimiter. A preamble, or an epilogue with more than blanks, is no form's.
/// 2. A line ends with CR LF, and a part's head with an empty line.
/// 3. Whatever is not so is not read at all: where one reader sees content, another may see a delimiter.
/// 4. The last delimiter may be missing, as in a text that is cut.
struct MultipartText {
    struct Part {
        let head: String
        let content: String

        /// The lines of the head.
        var lines: [String] {
            // By bytes, since CR LF is one character, and a mark may join it.
            let bytes = Array(head.utf8)
            return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
                String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
            }
        }

        /// Whether nobody can look for secrets in the content as it stands.
        var isCoded: Bool {
            guard let coding = value(of: "content-transfer-encoding") else { return false }
            return !["7bit", "8bit", "binary"].contains(coding.lowercased().filter { $0 != " " && $0 != "\t" })
        }

        var type: MediaType? { value(of: "content-type").flatMap { MediaType($0) } }

        /// The names that readers may find in `Content-Disposition`.
        var names: [String] {
            guard let disposition = value(of: "content-disposition"), let sign = disposition.firstIndex(of: ";"),
                // Its parameters are written as those of a media type.
                let parameters = MediaType("form/data\(disposition[sign...])")?.parameters
            else { return [] }
            let values = parameters.filter { $0.name.hasPrefix("name") }.map(\.value)
            return (values + [values.joined()]).flatMap { value in
                let meaning = PercentEncoding.meaning(ofQueryPart: value[...])
                return [value, meaning] + meaning.split(separator: "'").map(String.init)
            }
        }

        private func value(of name: String) -> String? {
            lines.first { $0.lowercased().hasPrefix("\(name):") }.map { String($0.dropFirst(name.count + 1)) }
        }
    }

    private let boundary: String
    let parts: [Part]
    /// What follows the last part.
    private let end: String

    init?(_ text: String, _ type: MediaType?) {
        guard let type, type.essence.hasPrefix("multipart/"), let boundary = type["boundary"],
            (1...70).contains(boundary.utf8.count)
        else { return nil }
        let (bytes, lineEnd) = (Array(text.utf8), Array("\r\n".utf8))
        let first = Array("--\(boundary)".utf8)
        let delimiter = lineEnd + first
        guard bytes.starts(with: first) else { return nil }
        var (parts, start) = ([Part](), first.count)
        while !bytes[start...].starts(with: "--".utf8) {
            let end = Self.position(of: delimiter, in: bytes[start...])
            let part = bytes[start..<(end ?? bytes.count)]
            guard part.starts(with: lineEnd), let empty = Self.position(of: lineEnd + lineEnd, in: part) else {
                return nil
            }
            parts.append(
                Part(
                    head: String(decoding: part[..<empty].dropFirst(2), as: UTF8.self),
                    content: String(decoding: part[(empty + 4)...], as: UTF8.self)))
            guard let end else {
                (self.boundary, self.parts, self.end) = (boundary, parts, "")
                return
            }
            start = end + delimiter.count
        }
        guard bytes[(start + 2)...].allSatisfy({ $0 <= 0x20 }) else { return nil }
        (self.boundary, self.parts) = (boundary, parts)
        end = (parts.isEmpty ? "" : "\r\n") + String(decoding: first + bytes[start...], as: UTF8.self)
    }

    private static func position(of word: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { bytes[$0] == word[0] && bytes[$0...].starts(with: word) }
    }

    /// The text with the heads and contents that `shown` makes of its parts.
    func text(_ shown: (Part) -> (head: String, content: String)) -> String {
        let texts = parts.map { part in
            let (head, content) = shown(part)
            return "--\(boundary)\r\n" + (head.isEmpty ? "" : head + "\r\n") + "\r\n" + content
        }
        return texts.joined(separator: "\r\n") + end
    }
}
