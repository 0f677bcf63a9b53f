internal import DunlinTypes

// Finds a certificate's subject in its DER (RFC 5280 §4.1) by the lengths of the fields before it.
//
// It knows the kinds of the fields down to the subject. It must not know OpenSSL, nor the contents of the fields: bytes
// with this form may still not be a certificate. The input may be any bytes.

struct CertificateOutline {
    /// The range of the subject with its header.
    let subject: Range<Int>

    /// Creates an outline; nil unless the bytes are one element that begins like a certificate.
    init?(_ der: Bytes) {
        var whole = Fields(of: der, in: 0..<der.count)
        guard let certificate = whole.next(Self.sequence), whole.isAtEnd else { return nil }
        var parts = Fields(of: der, in: certificate.contents)
        guard let signed = parts.next(Self.sequence) else { return nil }
        var fields = Fields(of: der, in: signed.contents)
        _ = fields.next(Self.version)
        guard fields.next(Self.integer) != nil else { return nil }
        // The algorithm, the issuer, and the time for which it is valid.
        for _ in 0..<3 where fields.next(Self.sequence) == nil { return nil }
        guard let subject = fields.next(Self.sequence), fields.next(Self.sequence) != nil else { return nil }
        self.subject = subject.whole
    }

    private static let integer: UInt8 = 0x02
    private static let sequence: UInt8 = 0x30
    private static let version: UInt8 = 0xA0

    /// A reader of elements that follow each other.
    private struct Fields {
        struct Field {
            let whole: Range<Int>
            let contents: Range<Int>
        }

        private let bytes: Bytes
        private var position: Int
        private let end: Int

        /// Creates a reader; `range` must be within the bytes.
        init(of bytes: Bytes, in range: Range<Int>) {
            self.bytes = bytes
            position = range.lowerBound
            end = range.upperBound
        }

        var isAtEnd: Bool { position == end }

        /// Returns the next element if it is of this kind and complete; otherwise nil, without moving past it.
        mutating func next(_ kind: UInt8) -> Field? {
            guard end - position >= 2, bytes[position] == kind else { return nil }
            var start = position + 2
            var length = Int(bytes[position + 1])
            if length >= 0x80 {
                // The number of bytes of the length. Zero would mean a marked end, which DER does not have.
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
