internal import DunlinSemantics

extension Bytes {
    /// The charset that a byte order mark declares; nil without one.
    package var markedCharset: Charset? {
        switch markedForm {
        case .utf32: Charset("utf-32")
        case .utf16: Charset("utf-16")
        case .utf8, nil: nil
        }
    }
}
