/// The lines and columns of a text, for errors. The text is read once however many errors there are: a type that tries
/// several others for each element makes many.
struct JSONPositions {
    private struct Mark {
        var line: Int
        var column: Int
    }

    private static let interval = 256

    private let text: Bytes
    /// The line and column at every multiple of the interval.
    private var marks: [Mark] = []

    init(_ text: Bytes) {
        self.text = text
        var mark = Mark(line: 1, column: 1)
        for start in stride(from: 0, through: text.count, by: Self.interval) {
            marks.append(mark)
            mark = Self.advanced(mark, over: text[start..<min(start + Self.interval, text.count)])
        }
    }

    /// The line and column of a byte, both from 1; columns count characters.
    subscript(offset: Int) -> (line: Int, column: Int) {
        let offset = min(max(offset, 0), text.count)
        let start = offset / Self.interval * Self.interval
        let mark = Self.advanced(marks[offset / Self.interval], over: text[start..<offset])
        return (mark.line, mark.column)
    }

    private static func advanced(_ mark: Mark, over bytes: Bytes) -> Mark {
        var mark = mark
        bytes.withUnsafeBytes { bytes in
            for byte in bytes {
                if byte == UInt8(ascii: "\n") {
                    mark.line += 1
                    mark.column = 1
                } else if byte & 0xC0 != 0x80 {
                    mark.column += 1
                }
            }
        }
        return mark
    }
}
