internal import DunlinSemantics

extension Bytes {
    /// What a byte order mark says of the text.
    package var markedCharset: Charset? {
        switch markedForm {
        case .utf32: Charset("utf-32")
        case .utf16: Charset("utf-16")
        case .utf8, nil: nil
        }
    }
}
