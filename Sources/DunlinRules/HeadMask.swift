internal import DunlinSemantics
package import DunlinTypes

/// Hides the secrets of heads and trailers in the bytes of a trace, without changing their number.
///
/// Rules:
/// 1. A head consists of a first line, fields, and an empty line. An interim head is followed by another one, a final
///    head by the body, which is shown unchanged, and a chunked body by trailers, which are fields. What follows a 101
///    is another protocol, and shown unchanged. Bytes may be cut anywhere.
/// 2. A field's value is hidden if its name is, or looks, secret, or is that of a field marked as sensitive. If a URL
///    contains a secret, the field's whole value is hidden; in the first line, everything from the question mark on, or
///    from the secret if that is earlier.
/// 3. In an incomplete line, what may turn out to be a user and a password is hidden too, since a later `@` would come
///    too late.
/// 4. If only the beginning of a read is known, the line of the next bytes is unknown, so everything is hidden until
///    the end of the head is reported. In a chunked body everything is then hidden to the end, because trailers may
///    have begun, unless the chunk is longer than what is missing.
/// 5. Invalid fields are hidden like secret ones: a line with a carriage return from there on, the value of an invalid
///    name, and a continuation of something like a secret field. A first line that looks like a field is judged as one.
package struct HeadMask: Sendable {
    private enum Section {
        case firstLine
        case fields
        case body
        case chunks
        case trailers
        case unknown
    }

    private let secret: HTTP.SecretFields
    private let marked: Fields
    private var section = Section.firstLine
    /// The beginning of an incomplete line.
    private var line: [UInt8] = []
    private var isInterim = false
    private var isChunked = false
    /// Whether the final head has ended.
    private var hasEnded = false
    private var chunks = ChunkPosition()
    /// Whether the last line's value was hidden; then its continuation lines are hidden too.
    private var isHiding = false

    /// Creates a mask. `marked` are the known fields of the head, some of them perhaps sensitive.
    package init(_ secret: HTTP.SecretFields, marked: Fields = Fields()) {
        self.secret = secret
        self.marked = marked
    }

    /// Notes that the final head has ended, with these fields, however much of it was seen.
    package mutating func headEnded(_ fields: Fields = Fields()) {
        if hasEnded { return }
        (hasEnded, line) = (true, [])
        // The position where it ended is unknown, and so are the positions of its chunks.
        section = fields.contains { Self.isChunked($0, $1) } ? .unknown : .body
    }

    /// Notes that another protocol follows, whatever was seen of the message before.
    package mutating func switchedProtocols() {
        (hasEnded, section, line) = (true, .body, [])
    }

    /// Masks `bytes`, the first of `count`.
    package mutating func masked(_ bytes: Bytes, of count: Int) -> Bytes {
        if section == .body { return bytes }
        var shown = Array(bytes)
        var start = 0
        while start < shown.count, section != .body {
            if section == .chunks {
                start = chunks.pass(shown[start...])
                findTrailers()
                continue
            }
            let end = shown[start...].firstIndex(of: 0x0A).map { $0 + 1 } ?? shown.count
            mask(&shown, start..<end)
            start = end
        }
        if count > bytes.count { skip(count - bytes.count) }
        return Bytes(shown)
    }

    private mutating func skip(_ count: Int) {
        switch section {
        case .body: break
        case .chunks:
            chunks.skip(count)
            findTrailers()
        case .firstLine, .fields, .trailers, .unknown: section = .unknown
        }
    }

    private mutating func findTrailers() {
        if chunks.isInTrailers { section = .trailers }
        if chunks.isUnknown { section = .unknown }
    }

    private mutating func mask(_ shown: inout [UInt8], _ range: Range<Int>) {
        if section == .unknown { return Self.hide(&shown, range) }
        let before = line.count
        line += shown[range]
        let hidden = hiddenStart ?? line.count
        let start = range.lowerBound - before
        Self.hide(&shown, start + max(hidden, before)..<start + line.count)
        guard line.last == 0x0A else { return }
        isHiding = hidden < line.count
        lineEnded()
        line = []
    }

    private static func hide(_ shown: inout [UInt8], _ range: Range<Int>) {
        for index in range where !endsLine(shown[index]) { shown[index] = UInt8(ascii: "*") }
    }

    private static func endsLine(_ byte: UInt8) -> Bool { byte == 0x0D || byte == 0x0A }

    private mutating func lineEnded() {
        let isEmpty = line.allSatisfy(Self.endsLine)
        switch section {
        case .firstLine where isEmpty: break
        case .firstLine:
            (isInterim, isChunked) = (Self.isInterim(line), false)
            section = .fields
        case .fields where isEmpty && isInterim: section = .firstLine
        case .fields where isEmpty:
            hasEnded = true
            section = isChunked ? .chunks : .body
        case .fields:
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { break }
            let (name, value) = (line[..<colon], line[(colon + 1)...])
            if Self.isChunked(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)) {
                isChunked = true
            }
        case .trailers where isEmpty: section = .unknown
        case .trailers, .body, .chunks, .unknown: break
        }
    }

    private static func isInterim(_ line: [UInt8]) -> Bool {
        guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: 0x20) else { return false }
        let code = line[space...].drop { $0 == 0x20 }
        // What follows a 101 is another protocol.
        return code.first == UInt8(ascii: "1") && !code.starts(with: "101".utf8)
    }

    private static func isChunked(_ name: String, _ value: String) -> Bool {
        name.lowercased() == "transfer-encoding" && value.lowercased().contains("chunked")
    }

    /// The position from which the current line is hidden; nil if all of it is shown.
    private var hiddenStart: Int? {
        let isField = section != .firstLine || isLikeField
        let start = isField ? hiddenStartOfField : hiddenStartOfFirstLine
        // A carriage return at the end is known to be part of the line end only when the next byte has come.
        let bare = line.indices.dropLast().first { line[$0] == 0x0D && line[$0 + 1] != 0x0A }
        return [start, bare].compactMap(\.self).min()
    }

    private var hiddenStartOfField: Int? {
        let isContinuation = section != .firstLine && (line.first == 0x20 || line.first == 0x09)
        if isContinuation, isHiding { return 0 }
        guard let colon = isContinuation ? -1 : line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = String(decoding: line[..<max(0, colon)], as: UTF8.self)
        let value = line[(colon + 1)...].filter { !Self.endsLine($0) }
        let text = Self.text(of: value, goesOn: line.last != 0x0A)
        let isSecret =
            isContinuation
            ? SecretText.masked(text, hiding: secret) != text
            : !Self.isName(line[..<colon]) || secret.hidesField(name) || marked.isSensitive(name)
        if !isSecret, secret.shown(text, of: name) == text { return nil }
        return line[(colon + 1)...].firstIndex { $0 != 0x20 } ?? line.count
    }

    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(TokenCharacters.contains)
    }

    /// Whether the current line looks like a field and not a first line: there is one word before a colon.
    private var isLikeField: Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return line[..<colon].split(separator: 0x20).count < 2
    }

    private var hiddenStartOfFirstLine: Int? {
        guard let space = line.firstIndex(of: 0x20) else { return nil }
        let target = line[(space + 1)...].prefix { $0 != 0x20 && !Self.endsLine($0) }
        let text = Self.text(of: target, goesOn: target.endIndex == line.endIndex)
        let shown = WebAddress.named(text, hiding: secret)
        if shown == text { return nil }
        let (mark, same) = (target.firstIndex(of: UInt8(ascii: "?")), zip(target, shown.utf8).prefix { $0 == $1 })
        return min(mark.map { $0 + 1 } ?? .max, target.startIndex + same.count)
    }

    /// The text of a part. If it continues, everything that may become a user's name counts as one.
    private static func text(of part: some Sequence<UInt8>, goesOn: Bool) -> String {
        String(decoding: Array(part), as: UTF8.self) + (goesOn ? "@" : "")
    }
}
