extension LoopbackServer {
    /// The range that a Range field requests (RFC 9110 §14.1.2), parsed only by the server's own code.
    enum ByteRange: Hashable {
        /// No range, several ranges, or an invalid one: everything is sent.
        case all
        case part(Range<Int>)
        case unsatisfiable

        init(_ field: String?, of length: Int) {
            guard let field, field.lowercased().hasPrefix("bytes=") else {
                self = .all
                return
            }
            let ends = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard ends.count == 2 else {
                self = .all
                return
            }
            self = Self(Self.number(ends[0]), Self.number(ends[1]), of: length)
        }

        private init(_ first: Number, _ last: Number, of length: Int) {
            switch (first, last) {
            case (.absent, .some(let count)):
                self = count == 0 || length == 0 ? .unsatisfiable : .part(max(length - count, 0)..<length)
            case (.some(let first), .absent): self = first < length ? .part(first..<length) : .unsatisfiable
            case (.some(let first), .some(let last)) where first <= last:
                self = first < length ? .part(first..<min(last + 1, length)) : .unsatisfiable
            default: self = .all
            }
        }

        private enum Number {
            case absent
            case some(Int)
            case wrong
        }

        private static func number(_ text: Substring) -> Number {
            if text.isEmpty { return .absent }
            // Below the maximum, so that one can be added.
            guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(text), number < .max else {
                return .wrong
            }
            return .some(number)
        }
    }
}
