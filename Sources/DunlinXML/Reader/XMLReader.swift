public import Dunlin
internal import DunlinTypes

extension XML {
    /// A parser that reads a document event by event, by XML 1.0 (fifth edition) and Namespaces in XML 1.0.
    ///
    /// - It knows its position in the document and the open elements, and builds nothing from them.
    /// - It fetches nothing: an external subset is skipped, and an external entity is an error where it is used.
    ///   Internal entities stand for text and may expand up to a limit.
    /// - Attributes that only a document type declares do not appear, and nothing is validated against one.
    /// - It accepts any bytes as input, and counts nesting without recursion. After an error, it repeats that error.
    public struct Reader: Sendable {
        /// The part of the document that comes next.
        enum Stage: Sendable {
            case beforeRoot
            case inRoot
            case afterRoot
        }

        @usableFromInline package let bytes: [UInt8]
        @usableFromInline package var position = 0
        var stage = Stage.beforeRoot
        var open: [(name: Name, written: String)] = []
        /// The end of an empty-element tag, which is still to be reported.
        var closing: Name?
        var scope = NamespaceScope()
        var entities: EntityTable
        var hasDocumentType = false
        let limits: Limits
        private var failure: XML.Error?

        /// Creates a reader. `charset` is the encoding declared from outside. A byte order mark takes precedence over
        /// it, and it takes precedence over the document's own declaration; without any of these the encoding is UTF-8.
        public init(_ bytes: Bytes, charset: String? = nil, limits: Limits = Limits()) throws(XML.Error) {
            guard let text = XMLEncoding.utf8(bytes, declared: charset) else {
                throw XML.Error(.unreadableText, line: 1, column: 1)
            }
            self.bytes = text
            self.limits = limits
            entities = EntityTable(limit: limits.expansion)
            if let offset = XMLEncoding.firstForbidden(in: text) {
                position = offset
                throw error(.invalidCharacter)
            }
        }

        /// Returns the next event; nil when the document is complete.
        public mutating func next() throws(XML.Error) -> Event? {
            if let failure { throw failure }
            do throws(XML.Error) {
                return try step()
            } catch {
                failure = error
                throw error
            }
        }

        private mutating func step() throws(XML.Error) -> Event? {
            if let name = closing {
                closing = nil
                return leave(name)
            }
            while position < bytes.count {
                let event = bytes[position] == UInt8(ascii: "<") ? try markup() : try text()
                if let event { return event }
            }
            guard case .afterRoot = stage else { throw error(.endsEarly) }
            return nil
        }

        /// Continues after the end of an element.
        mutating func leave(_ name: Name) -> Event {
            scope.leave(open.count)
            open.removeLast()
            if open.isEmpty { stage = .afterRoot }
            return .end(name)
        }
    }
}

// MARK: - Steps

extension XML.Reader: MarkupReader {
    func error(_ problem: XML.Error.Problem) -> XML.Error {
        var (line, column) = (1, 1)
        for byte in bytes[..<min(position, bytes.count)] {
            column += 1
            if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 1) }
        }
        return XML.Error(problem, line: line, column: column)
    }

    /// Whoever compares the text would wait long.
    func checkMarks(in text: some Collection<UInt8>) throws(XML.Error) {
        if MarkRun.isTooLong(in: text) { throw error(.tooManyMarks) }
    }

    @usableFromInline package func unexpected() -> XML.Error {
        error(position < bytes.count ? .notWellFormed : .endsEarly)
    }

    /// Reads a name without a colon.
    mutating func plainName() throws(XML.Error) -> String {
        let start = position
        while let (scalar, length) = scalar() {
            let isPart = position == start ? XMLCharacters.beginsName(scalar) : XMLCharacters.continuesName(scalar)
            guard isPart else { break }
            position += length
        }
        guard position > start else { throw error(position < bytes.count ? .invalidName : .endsEarly) }
        try checkMarks(in: bytes[start..<position])
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// The next character; the text is known to be UTF-8.
    private func scalar() -> (Unicode.Scalar, length: Int)? {
        guard position < bytes.count else { return nil }
        let first = bytes[position]
        if first < 0x80 { return (Unicode.Scalar(first), 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        let text = String(decoding: bytes[position..<min(position + length, bytes.count)], as: UTF8.self)
        return text.unicodeScalars.first.map { ($0, length) }
    }
}
