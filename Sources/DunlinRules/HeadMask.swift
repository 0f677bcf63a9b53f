internal import DunlinSemantics
package import DunlinTypes

/// Hides the secrets of heads and trailers in the bytes of a trace, and leaves their number as it is.
///
/// Rules:
/// 1. A head is a first line, fields, and an empty line. After an interim one another follows, after any other the
///    body, which is shown as it is, and after a chunked one trailers, which are fields. Bytes may be cut anywhere.
/// 2. The value of a field is hidden whose name is secret or looks like it, or is that of a field that somebody marked
///    as sensitive. Where a URL has a secret, all of the field's value is hidden, and of the first line all from the
///    question mark on, or from the secret if it is before that.
/// 3. Where a line has not come to its end, what may yet turn out to be a user and a password is hidden too: an `@`
///    that comes later says so too late.
/// 4. Where only the beginning of what was read is at hand, nobody knows in which line the next bytes are: all is
///    hidden until somebody says that the head is over. In a chunked body it is hidden to the end, unless the chunk is
///    longer than what is missing: trailers may have begun.
/// 5. What is no field is hidden as if it were a secret one: a line with a carriage return in it from there on, the
///    value of a name that cannot be one, and a line that goes on with something like a secret field. What stands in
///    the place of a first line is judged as a field if it looks like one.
package struct HeadMask: Sendable {
    private enum Place {
        case firstLine
        case fields
        case body
        case chunks
        case trailers
        case unknown
    }

    private let secret: HTTP.SecretFields
    private let marked: Fields
    private var place = Place.firstLine
    /// The beginning of a line whose end has not come.
    private var line: [UInt8] = []
    private var isInterim = false
    private var isChunked = false
    /// Whether the final head is over.
    private var hasEnded = false
    private var chunks = ChunkPlace()
    /// Whether the last line's value was hidden: lines that continue it are too.
    private var isHiding = false

    /// `marked` are the fields that the head is known to have, some of them perhaps sensitive.
    package init(_ secret: HTTP.SecretFields, marked: Fields = Fields()) {
        self.secret = secret
        self.marked = marked
    }

    /// The final head is over, whatever was seen of it; it has these fields.
    package mutating func headEnded(_ fields: Fields = Fields()) {
        if hasEnded { return }
        (hasEnded, line) = (true, [])
        // Where it ended is not known, so neither is where its chunks are.
        place = fields.contains { Self.isChunked($0, $1) } ? .unknown : .body
    }

    /// `bytes` are the first of `count`.
    package mutating func masked(_ bytes: Bytes, of count: Int) -> Bytes {
        if place == .body { return bytes }
        var shown = Array(bytes)
        var start = 0
        while start < shown.count, place != .body {
            if place == .chunks {
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
        switch place {
        case .body: break
        case .chunks:
            chunks.skip(count)
            findTrailers()
        case .firstLine, .fields, .trailers, .unknown: place = .unknown
        }
    }

    private mutating func findTrailers() {
        if chunks.isInTrailers { place = .trailers }
        if chunks.isUnknown { place = .unknown }
    }

    private mutating func mask(_ shown: inout [UInt8], _ range: Range<Int>) {
        if place == .unknown { return Self.hide(&shown, range) }
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
        switch place {
        case .firstLine where isEmpty: break
        case .firstLine:
            (isInterim, isChunked) = (Self.isInterim(line), false)
            place = .fields
        case .fields where isEmpty && isInterim: place = .firstLine
        case .fields where isEmpty:
            hasEnded = true
            place = isChunked ? .chunks : .body
        case .fields:
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { break }
            let (name, value) = (line[..<colon], line[(colon + 1)...])
            if Self.isChunked(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)) {
                isChunked = true
            }
        case .trailers where isEmpty: place = .unknown
        case .trailers, .body, .chunks, .unknown: break
        }
    }

    private static func isInterim(_ line: [UInt8]) -> Bool {
        guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: 0x20) else { return false }
        return line[space...].first { $0 != 0x20 } == UInt8(ascii: "1")
    }

    private static func isChunked(_ name: String, _ value: String) -> Bool {
        name.lowercased() == "transfer-encoding" && value.lowercased().contains("chunked")
    }

    /// From where on the present line is hidden, as far as it has come; nil if all is shown.
    private var hiddenStart: Int? {
        let isField = place != .firstLine || isLikeField
        let start = isField ? hiddenStartOfField : hiddenStartOfFirstLine
        // One before the line's end is not known to be that until the next byte has come.
        let bare = line.indices.dropLast().first { line[$0] == 0x0D && line[$0 + 1] != 0x0A }
        return [start, bare].compactMap(\.self).min()
    }

    private var hiddenStartOfField: Int? {
        let isContinuation = place != .firstLine && (line.first == 0x20 || line.first == 0x09)
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

    /// Whether the present line is no first line: before a colon there is one word.
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

    /// If a part goes on, as if what comes next made a user of all that can be one.
    private static func text(of part: some Sequence<UInt8>, goesOn: Bool) -> String {
        String(decoding: Array(part), as: UTF8.self) + (goesOn ? "@" : "")
    }
}
