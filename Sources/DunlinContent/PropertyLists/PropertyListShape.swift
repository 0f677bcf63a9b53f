/// Looks at a property list before Foundation reads it, which trusts what it reads: how it is written, and that it is
/// neither nested too deep for a stack nor much larger unfolded than it is on the wire.
///
/// Rules:
/// 1. A list in XML is read here, and what Foundation gets is written here: not a byte of markup comes from outside.
/// 2. A list in binary form is followed from reference to reference, and what each brings is counted. Foundation's own
///    writers share texts and numbers among a list's containers, never the containers themselves; one that is in two
///    places, or within itself, can make a few hundred bytes stand for more than fits into a machine.
/// 3. There is no third form: the older one of braces is refused, and so is text that is in no encoding it declares.
/// 4. Takes any bytes. Time and memory are bounded by their number, and the stack by nothing they say.
enum PropertyListShape {
    static let deepest = 512

    /// What a list of so many bytes may hold in text and data, each counted as often as something refers to it.
    ///
    /// Sixteen times its length: records that share their keys and the words of their vocabulary come to five or ten.
    /// What is small may be more, for it is small still.
    static func mostContent(of length: Int) -> Int { max(1 << 20, 16 * length) }

    /// Throws `NetworkError`-worthy reasons as text.
    struct Refusal: Error, Sendable, Hashable {
        let reason: String
    }

    /// The list as Foundation may read it.
    static func checked(_ body: Bytes) throws(Refusal) -> Bytes {
        if body.starts(with: "bplist00".utf8) {
            var shape = BinaryPropertyListShape(body)
            try shape.check()
            return body
        }
        var reader = XMLPropertyListReader(try text(of: body), isDeclaredUTF8: body.markedCharset == nil)
        return Bytes(try reader.read())
    }

    /// In UTF-8, without a mark.
    private static func text(of body: Bytes) throws(Refusal) -> [UInt8] {
        let charset = body.markedCharset ?? .utf8
        guard let text = charset.text(body) else { throw Refusal(reason: "the text is not valid \(charset.name)") }
        return Array(text.utf8)
    }
}
