import Dunlin
import DunlinCommandLine

/// Turns the pieces of a body into what is written. The first piece decides how.
///
/// On a terminal nothing is written that `SafeText` has not seen. JSON goes through `JSONPrinter` after that.
struct BodyPrinter {
    private enum Way {
        /// Nothing has come.
        case undecided
        case asSent
        case safe(SafeText)
        case json(SafeText, JSONPrinter)
    }

    private let contentType: String?
    private let options: PrintOptions
    private let screen: Screen
    private var way = Way.undecided

    init(contentType: String?, options: PrintOptions, screen: Screen) {
        (self.contentType, self.options, self.screen) = (contentType, options, screen)
    }

    /// What is written for the piece. Throws before anything is written if the body is not for this screen.
    mutating func take(_ piece: Bytes) throws(BinaryBody) -> Bytes {
        if piece.isEmpty { return piece }
        if case .undecided = way { way = try decide(piece) }
        switch way {
        case .undecided, .asSent: return piece
        case .safe(var text):
            let safe = text.take(piece)
            way = .safe(text)
            return Bytes(safe)
        case .json(var text, var json):
            let pretty = json.take(text.take(piece))
            way = .json(text, json)
            return Bytes(pretty)
        }
    }

    /// What is written after the last piece.
    mutating func end() -> Bytes {
        defer { way = .asSent }
        switch way {
        case .undecided, .asSent: return Bytes([])
        case .safe(var text): return Bytes(text.end())
        case .json(var text, var json): return Bytes(json.take(text.end()) + json.end())
        }
    }

    private func decide(_ first: Bytes) throws(BinaryBody) -> Way {
        if options.isRaw { return .asSent }
        let type = BodyType(contentType, first: first)
        if type == .binary, screen.isTerminal { throw BinaryBody(contentType: contentType) }
        let (indents, hasColour) = (options.indents(on: screen), options.hasColour(on: screen))
        switch type {
        case .json where indents || hasColour:
            return .json(SafeText(), JSONPrinter(indents: indents, hasColour: hasColour))
        case .jsonLines where hasColour: return .json(SafeText(), JSONPrinter(indents: false, hasColour: true))
        default: return screen.isTerminal ? .safe(SafeText()) : .asSent
        }
    }
}

/// A body that is not for a terminal.
struct BinaryBody: Error, CustomStringConvertible {
    let contentType: String?

    var description: String {
        let type = contentType.map { " (\($0))" } ?? ""
        return "the body is binary\(type), which would disturb the terminal; -o FILE saves it, --raw prints it even so"
    }
}
