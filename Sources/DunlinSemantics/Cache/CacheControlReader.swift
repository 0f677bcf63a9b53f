internal import DunlinTypes

/// Reads the directives of Cache-Control fields, one by one (RFC 9111 §5.2).
///
/// Knows the grammar, and no directive. A name may have an argument directly behind its `=`, as a token or between
/// quotes. Nothing is repaired: a directive that is not written so is handed out as `malformed`, for its name may still
/// forbid something, and what begins with no name is passed over and noted.
struct CacheControlReader {
    enum Argument: Equatable {
        case none
        case text([UInt8])
        /// Something follows the name that is no argument.
        case malformed
    }

    struct Directive: Equatable {
        /// The name in lower case.
        let name: String
        let argument: Argument

        /// The argument as a number of seconds; nil if it is no number.
        var seconds: Int64? {
            if case .text(let text) = argument { DeltaSeconds.value(of: text) } else { nil }
        }
    }

    /// The directives of all fields, in order.
    let directives: [Directive]
    /// Whether something is no directive, or a quote is never closed: then each directive's end is a guess.
    let isBroken: Bool

    init(_ fields: Fields) {
        var directives: [Directive] = []
        var isBroken = false
        for value in fields.rawValues(of: "cache-control") {
            var scan = Scan(reader: ValueReader(value))
            while let directive = scan.next() { directives.append(directive) }
            isBroken = isBroken || scan.isBroken
        }
        self.directives = directives
        self.isBroken = isBroken
    }
}

/// The state of reading one field.
private struct Scan {
    var reader: ValueReader
    var isBroken = false
    /// Whether quotes count. A quote that is never closed does not, as what follows may forbid something; then no other
    /// in this field does either, as each would have to be followed to the end.
    private var hasQuotes = true

    init(reader: ValueReader) {
        self.reader = reader
    }

    mutating func next() -> CacheControlReader.Directive? {
        while true {
            repeat { reader.skipBlanks() } while reader.take(",")
            if reader.isAtEnd { return nil }
            if let name = reader.token() {
                let argument = argument()
                if argument == .malformed { skip() }
                return CacheControlReader.Directive(name: name.lowercased(), argument: argument)
            }
            isBroken = true
            skip()
        }
    }

    private mutating func argument() -> CacheControlReader.Argument {
        guard reader.take("=") else { return reader.isAtElementEnd ? .none : .malformed }
        guard let text = quotedString() ?? reader.token().map({ Array($0.utf8) }), reader.isAtElementEnd else {
            return .malformed
        }
        return .text(text)
    }

    private mutating func quotedString() -> [UInt8]? {
        guard hasQuotes, reader.next == UInt8(ascii: "\"") else { return nil }
        if let text = reader.quotedString() { return text }
        (isBroken, hasQuotes) = (true, false)
        return nil
    }

    /// Skips to the next comma outside of quotes.
    private mutating func skip() {
        while true {
            _ = reader.takeAll { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") }
            guard reader.next == UInt8(ascii: "\"") else { return }
            if quotedString() == nil { _ = reader.take("\"") }
        }
    }
}
