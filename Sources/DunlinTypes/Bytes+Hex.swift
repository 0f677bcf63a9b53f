extension Bytes {
    /// Two hexadecimal digits for each byte, in lower case.
    public var hex: String {
        String(decoding: flatMap { [Hex.digit($0 >> 4), Hex.digit($0 & 15)] }, as: UTF8.self)
    }
}
