internal import DunlinTypes

// Where a certificate's subject stands in its DER (RFC 5280 §4.1), found by the lengths of what is before it.
//
// It knows the kinds of the fields down to the subject. It must not know OpenSSL, nor what is in the fields: what looks
// like a certificate from outside may be none. Any bytes at all may come.

struct CertificateOutline {
    /// The name with its header.
    let subject: Range<Int>

    /// Nil unless the bytes are one element that begins as a certificate does.
    init?(_ der: Bytes) {
        var whole = Fields(of: der, in: 0..<der.count)
        guard let certificate = whole.next(Self.sequence), whole.isAtEnd else { return nil }
        var parts = Fields(of: der, in: certificate.contents)
        guard let signed = parts.next(Self.sequence) else { return nil }
        var fields = Fields(of: der, in: signed.contents)
        _ = fields.next(Self.version)
        guard fields.next(Self.integer) != nil else { return nil }
        // The algorithm, the issuer, and from when to when it is valid.
        for _ in 0..<3 where fields.next(Self.sequence) == nil { return nil }
        guard let subject = fields.next(Self.sequence), fields.next(Self.sequence) != nil else { return nil }
        self.subject = subject.whole
    }

    private static let integer: UInt8 = 0x02
    private static let sequence: UInt8 = 0x30
    private static let version: UInt8 = 0xA0

    /// Elements one after the other.
    private struct Fields {
        struct Field {
            let whole: Range<Int>
            let contents: Range<Int>
        }

        private let bytes: Bytes
        private var position: Int
        private let end: Int

        /// `range` is within the bytes.
        init(of bytes: Bytes, in range: Range<Int>) {
            self.bytes = bytes
            position = range.lowerBound
            end = range.upperBound
        }

        var isAtEnd: Bool { position == end }

        /// The next one, if it is of this kind and all there; nil otherwise, and then it is still the next one.
        mutating func next(_ kind: UInt8) -> Field? {
            guard end - position >= 2, bytes[position] == kind else { return nil }
            var start = position + 2
            var length = Int(bytes[position + 1])
            if length >= 0x80 {
                // The length of the length: none means that the end is marked, which DER does not have.
                let count = length - 0x80
                guard (1...4).contains(count), end - start >= count else { return nil }
                length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
                start += count
            }
            guard length <= end - start else { return nil }
            let field = Field(whole: position..<start + length, contents: start..<start + length)
            position = field.whole.upperBound
            return field
        }
    }
}
