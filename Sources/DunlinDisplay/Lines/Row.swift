/// One line of a display, ready to be written: pieces of text, each in one colour and without control characters.
struct Row: Equatable {
    enum Colour: String {
        case green = "32"
        case red = "31"
        case cyan = "36"
        case dim = "2"
    }

    struct Piece: Equatable {
        var text: String
        var colour: Colour?
    }

    private(set) var pieces: [Piece] = []
    /// The width in columns.
    private(set) var width = 0

    mutating func add(_ text: String, _ colour: Colour? = nil) {
        guard !text.isEmpty else { return }
        pieces.append(Piece(text: text, colour: colour))
        width += DisplayWidth.of(text)
    }

    func text(inColour: Bool) -> String {
        pieces.map { piece in
            guard inColour, let colour = piece.colour else { return piece.text }
            return "\u{1B}[\(colour.rawValue)m\(piece.text)\u{1B}[0m"
        }.joined()
    }

    /// The row, cut to `limit` columns.
    func cut(to limit: Int) -> Row {
        if width <= limit { return self }
        var row = Row()
        for piece in pieces { row.add(DisplayWidth.cut(piece.text, to: limit - row.width), piece.colour) }
        return row
    }

    /// The row without trailing blanks.
    var trimmed: Row {
        var row = self
        while let last = row.pieces.last, last.colour == nil, last.text.hasSuffix(" ") {
            let text = String(last.text.reversed().drop { $0 == " " }.reversed())
            row.width -= last.text.count - text.count
            row.pieces.removeLast()
            if !text.isEmpty { row.pieces.append(Piece(text: text, colour: nil)) }
        }
        return row
    }
}
