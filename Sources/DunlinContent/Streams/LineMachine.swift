/// Cuts bytes into lines, however they are split. A line ends in a line feed, or in both a carriage return and a line
/// feed; where returns end lines too (server-sent events), in any of the three.
///
/// It keeps at most `limit` bytes of a line, and knows neither text nor bodies.
package struct LineMachine {
    package struct TooLong: Error, Equatable {}

    private let limit: Int
    private let returnsEndLines: Bool
    /// The part of a line that came before the current piece.
    private var held: [UInt8] = []
    private var piece = Bytes.empty
    private var position = 0
    /// Whether the last line ended in a carriage return, to which a following line feed belongs.
    private var passesFeed = false

    package init(limit: Int, returnsEndLines: Bool = false) {
        self.limit = limit
        self.returnsEndLines = returnsEndLines
    }

    /// Takes more bytes. Call it when `next` has returned nil.
    package mutating func take(_ bytes: Bytes) {
        piece = bytes
        position = 0
    }

    /// Returns the next complete line without its end; nil if more bytes are needed.
    package mutating func next() throws(TooLong) -> Bytes? {
        if passesFeed, position < piece.count {
            passesFeed = false
            if piece[position] == 0x0A { position += 1 }
        }
        guard let end = endOfLine() else {
            try hold(piece[position..<piece.count])
            position = piece.count
            return nil
        }
        let rest = piece[position..<end]
        passesFeed = piece[end] == 0x0D
        position = end + 1
        return try line(rest)
    }

    /// Returns what follows the last line end; nil if nothing does.
    package mutating func finish() throws(TooLong) -> Bytes? {
        held.isEmpty ? nil : try line(.empty)
    }

    private func endOfLine() -> Int? {
        piece.withUnsafeBytes { bytes in
            var index = position
            while index < bytes.count {
                let byte = bytes[index]
                if byte == 0x0A || byte == 0x0D && returnsEndLines { return index }
                index &+= 1
            }
            return nil
        }
    }

    private mutating func line(_ rest: Bytes) throws(TooLong) -> Bytes {
        var line = rest
        if !held.isEmpty {
            line = Bytes(held + rest.array)
            held.removeAll(keepingCapacity: true)
        }
        if !returnsEndLines, line.last == 0x0D { line = line[0..<(line.count - 1)] }
        guard line.count <= limit else { throw TooLong() }
        return line
    }

    private mutating func hold(_ bytes: Bytes) throws(TooLong) {
        // A carriage return may be half of the line's end, which does not count.
        guard held.count + bytes.count <= limit.addingClamped(1) else { throw TooLong() }
        held.append(contentsOf: bytes)
    }
}
