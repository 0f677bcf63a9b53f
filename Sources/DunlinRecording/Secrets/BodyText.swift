internal import Dunlin
internal import DunlinInflate
internal import FoundationEssentials

/// A body as it stands in an archive: without content codings and secrets, as text or in Base64. What may hide a secret
/// that nobody can look for is left out, with a comment.
struct BodyText {
    private(set) var text: String?
    private(set) var encoding: String?
    private(set) var comment: String?
    /// Whether it is not all of the body.
    private(set) var isCut: Bool
    /// The number of bytes without codings, as far as they are known.
    private(set) var count: Int

    init(_ kept: [UInt8], isWhole: Bool, _ codings: [String], _ type: String, limit: Int, _ redaction: Redaction) {
        (isCut, count) = (!isWhole, kept.count)
        var bytes = Bytes(kept)
        if !codings.isEmpty {
            guard let plain = Self.decoded(bytes, codings, limit) else {
                (isCut, comment) = (true, "left out: its content coding cannot be undone")
                return
            }
            (bytes, isCut) = (plain.bytes, isCut || !plain.isWhole)
            count = bytes.count
        }
        if isCut {
            comment = "only the beginning: \(bytes.count) bytes"
            // A character may be cut, too.
            if case .unreadable = BodyForm(of: bytes, type) { bytes = Self.withoutCutCharacter(bytes) }
        }
        switch BodyForm(of: bytes, type) {
        case .text(let text):
            let shown = redaction.body(text, type)
            self.text = shown.text
            if !shown.isWhole { (isCut, comment) = (true, "what may belong to a secret is left out") }
        case .binary: (text, encoding) = (Data(bytes).base64EncodedString(), "base64")
        case .unreadable:
            (isCut, comment) = (true, "left out: no UTF-8, and no type that is known to be binary")
        }
    }

    /// The bytes without codings, as far as they can be had; nil if a coding is not known, or the bytes are not of it.
    static func decoded(_ bytes: Bytes, _ codings: [String], _ limit: Int) -> (bytes: Bytes, isWhole: Bool)? {
        var plain: [UInt8] = []
        do {
            guard let chain = try ContentCodecs.known.chain(codings) else { return nil }
            var decoder = try ContentDecoder(chain)
            decoder.feed(bytes)
            while plain.count < limit, let piece = try decoder.next() { plain += piece.array }
            if plain.count > limit { return (Bytes(Array(plain[..<limit])), false) }
            try decoder.finish()
            return (Bytes(plain), true)
        } catch {
            return plain.isEmpty ? nil : (Bytes(plain), false)
        }
    }

    /// The bytes without the beginning of a character at their end.
    private static func withoutCutCharacter(_ bytes: Bytes) -> Bytes {
        for left in 1..<4 where left < bytes.count && bytes[bytes.count - left] >= 0xC0 {
            return bytes[0..<bytes.count - left]
        }
        return bytes
    }
}

extension String {
    /// Nil if the bytes are no UTF-8.
    init?(validating bytes: Bytes) {
        guard let text = String(validating: bytes.array, as: UTF8.self) else { return nil }
        self = text
    }
}
