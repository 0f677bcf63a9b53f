package import DunlinTypes

/// The blocks of a PEM text (RFC 7468): what stands between `-----BEGIN` and `-----END`.
///
/// Text outside of blocks is a comment and skipped, as in the bundles that distributions ship. Inside, there is Base64
/// and white space at the ends of lines; header lines (RFC 1421) belong to encrypted keys, which are not read here.
package enum PEM {
    package struct Block: Sendable, Hashable {
        /// The label, such as `CERTIFICATE` or `PUBLIC KEY`.
        package var label: String
        package var bytes: Bytes
    }

    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case notClosed(label: String)
        case notBase64(label: String)
        case closedOtherwise(label: String)

        package var description: String {
            switch self {
            case .notClosed(let label): "its \(label) block has no end line"
            case .notBase64(let label): "its \(label) block is not Base64"
            case .closedOtherwise(let label): "its \(label) block has the end line of another"
            }
        }
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    /// Whether the text has any PEM block.
    package static func isPEM(_ text: Bytes) -> Bool {
        lines(text).contains { label($0, after: begin) != nil }
    }

    package static func blocks(of text: Bytes) throws(Problem) -> [Block] {
        var blocks: [Block] = []
        var open: (label: String, letters: [UInt8])?
        for line in lines(text) {
            guard let label = open?.label else {
                open = label(line, after: begin).map { ($0, []) }
                continue
            }
            if let other = Self.label(line, after: end) {
                guard other == label else { throw .closedOtherwise(label: label) }
                guard let bytes = Base64.decode(open?.letters ?? []) else { throw .notBase64(label: label) }
                blocks.append(Block(label: label, bytes: Bytes(bytes)))
                open = nil
            } else if line.starts(with: dashes) {
                throw .notClosed(label: label)
            } else {
                open?.letters += line
            }
        }
        if let open { throw .notClosed(label: open.label) }
        return blocks
    }

    /// Lines end with LF, CR or both; white space at either end of a line is not part of it.
    private static func lines(_ text: Bytes) -> [ArraySlice<UInt8>] {
        text.array.split { $0 == 0x0A || $0 == 0x0D }.map { line in
            var line = line
            while let byte = line.first, byte == 0x20 || byte == 0x09 { line.removeFirst() }
            while let byte = line.last, byte == 0x20 || byte == 0x09 { line.removeLast() }
            return line
        }
    }

    private static func label(_ line: ArraySlice<UInt8>, after prefix: [UInt8]) -> String? {
        guard line.starts(with: prefix), line.count > prefix.count + dashes.count,
            line.suffix(dashes.count).elementsEqual(dashes)
        else { return nil }
        let label = line.dropFirst(prefix.count).dropLast(dashes.count)
        // It is shown in errors.
        guard label.allSatisfy({ (0x20..<0x7F).contains($0) }), label.count <= 64 else { return nil }
        return String(decoding: label, as: UTF8.self)
    }
}
