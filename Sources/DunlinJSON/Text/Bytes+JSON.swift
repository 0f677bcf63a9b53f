internal import DunlinSemantics

extension Bytes {
    /// The text in UTF-8. UTF-16 and UTF-32 are recognised by a byte order mark, or by the zeros among the first bytes
    /// (RFC 4627 §3).
    func inUTF8() throws(HTTP.JSON.SyntaxError) -> Bytes {
        guard count >= 2, let form = markedForm ?? formByZeros else { return self }
        guard let text = form.text(self) else { throw HTTP.JSON.SyntaxError(problem: .invalidUTF8, offset: 0) }
        return Bytes(text)
    }

    private var formByZeros: UnicodeForm? {
        let isZero: (Int) -> Bool = { $0 < count && self[$0] == 0 }
        if isZero(0), isZero(1) { return .utf32(isBig: true) }
        if isZero(1), isZero(2) { return .utf32(isBig: false) }
        if isZero(0) { return .utf16(isBig: true) }
        return isZero(1) ? .utf16(isBig: false) : nil
    }
}
