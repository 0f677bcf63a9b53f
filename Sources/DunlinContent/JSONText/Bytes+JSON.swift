extension Bytes {
    /// A text of JSON in UTF-8. One in UTF-16 or UTF-32 shows it by its mark, or by the zeros among its first bytes
    /// (RFC 4627 §3).
    func inUTF8() throws(HTTP.JSON.SyntaxError) -> Bytes {
        guard count >= 2, let charset = markedCharset ?? charsetByZeros else { return self }
        guard let text = charset.text(self) else { throw HTTP.JSON.SyntaxError(problem: .invalidUTF8, offset: 0) }
        return Bytes(text)
    }

    private var charsetByZeros: Charset? {
        let isZero: (Int) -> Bool = { $0 < count && self[$0] == 0 }
        if isZero(0), isZero(1) { return Charset("utf-32be") }
        if isZero(1), isZero(2) { return Charset("utf-32le") }
        if isZero(0) { return Charset("utf-16be") }
        return isZero(1) ? Charset("utf-16le") : nil
    }
}
