extension Bytes {
    /// What a byte order mark says of the text.
    package var markedCharset: Charset? {
        if starts(with: [0xFF, 0xFE, 0, 0]) || starts(with: [0, 0, 0xFE, 0xFF]) { return Charset("utf-32") }
        return starts(with: [0xFF, 0xFE]) || starts(with: [0xFE, 0xFF]) ? Charset("utf-16") : nil
    }
}
