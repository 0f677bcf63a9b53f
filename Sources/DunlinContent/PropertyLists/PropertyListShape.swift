/// Checks a property list before Foundation reads it, which trusts its input: that it is well formed, not nested too
/// deep for the stack, and not much larger unfolded than on the wire.
///
/// Rules:
/// 1. A list in XML is read and written anew here, so Foundation gets no markup from outside.
/// 2. In a binary list, every reference is followed and its content counted. Foundation's own writers share texts and
///    numbers among a list's containers, never the containers themselves; one that is in two places, or within itself,
///    can make a few hundred bytes stand for more than fits into a machine.
/// 3. No other form is accepted: the older one with braces is refused, and so is text that does not match its declared
///    encoding.
/// 4. No text has so many combining marks in a row that comparing it takes long: Foundation's decoder compares keys.
/// 5. Any bytes are accepted as input. Their number limits time and memory; the stack's use does not depend on them.
enum PropertyListShape {
    static let deepest = 512

    /// The greatest total size of text and data in a list of `length` bytes, each counted once for every reference.
    ///
    /// It is sixteen times the length: records that share keys and common words reach five or ten times. Small lists
    /// may exceed that, up to 1 MiB.
    static func mostContent(of length: Int) -> Int { max(1 << 20, 16 * length) }

    /// Why a list is refused, as text for a `NetworkError`.
    struct Refusal: Error, Sendable, Hashable {
        let reason: String
    }

    static let tooManyMarks = Refusal(reason: "a text has more than \(MarkRun.longest) combining marks in a row")

    /// The list in a form that Foundation may read.
    static func checked(_ body: Bytes) throws(Refusal) -> Bytes {
        if body.starts(with: "bplist00".utf8) {
            var shape = BinaryPropertyListShape(body)
            try shape.check()
            return body
        }
        var reader = XMLPropertyListReader(try text(of: body), isDeclaredUTF8: body.markedCharset == nil)
        return Bytes(try reader.read())
    }

    /// The text in UTF-8, without a byte order mark.
    private static func text(of body: Bytes) throws(Refusal) -> [UInt8] {
        let charset = body.markedCharset ?? .utf8
        guard let text = charset.text(body) else { throw Refusal(reason: "the text is not valid \(charset.name)") }
        return Array(text.utf8)
    }
}
