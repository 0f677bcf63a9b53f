import DunlinTypes

/// Scans the field lines of a head or trailer section, up to and including the empty line (RFC 9112 §5).
///
/// Names are tokens directly before their colon; values have no control characters except tabs; blanks around a value
/// are not part of it; every line ends with CR LF; a line that begins with a blank is refused, as a user agent may do
/// (§5.2). It must not know what any field means.
///
/// Each byte is examined once, or twice if the input is cut within its line. The first wrong byte determines an error,
/// and the byte that reaches a limit its excess. An error moves nothing, so scanning again throws it again.
struct FieldScanner: Sendable {
    enum Section: Sendable {
        case head
        case trailers
    }

    private enum Part {
        case name
        case padding
        case value
    }

    private let section: Section
    private let lineLimit: Int
    private let countLimit: Int
    private let sectionLimit: Int

    private var part = Part.name
    private var sectionEnd = 0
    private var line = 0
    /// Where the line must end at the latest, by the limits for it and the section.
    private var lineEnd = 0
    private var nameEnd = 0
    private var valueStart = 0
    /// The position up to which bytes have been examined.
    private(set) var cursor = 0
    var entries: [Fields.Entry] = []

    init(_ section: Section, limits: WireLimits) {
        self.section = section
        lineLimit = FieldScanner.clamped(0, max(limits.lineBytes, 0))
        countLimit = section == .head ? limits.fieldCount : limits.trailerCount
        sectionLimit = max(section == .head ? limits.headBytes : limits.trailerBytes, 0)
    }

    /// Begins a section at `start`, whose field lines begin at `line`.
    mutating func begin(section start: Int, line: Int) {
        sectionEnd = FieldScanner.clamped(start, sectionLimit)
        beginLine(at: line)
    }

    @inline(__always)
    private mutating func beginLine(at position: Int) {
        part = .name
        line = position
        lineEnd = min(position &+ lineLimit, sectionEnd)
        cursor = position
    }

    /// The limit as an offset. Entries have 32-bit offsets, so anything beyond counts as too large.
    static func clamped(_ start: Int, _ limit: Int) -> Int {
        start &+ min(limit, Int(UInt32.max) &- start)
    }

    /// Adapts to the removal of the first `count` bytes.
    mutating func rebase(by count: Int) {
        sectionEnd -= count
        line -= count
        lineEnd -= count
        cursor -= count
        nameEnd -= count
        valueStart -= count
        for index in entries.indices {
            entries[index].nameStart -= UInt32(count)
            entries[index].valueStart -= UInt32(count)
        }
    }

    /// Returns true when the empty line has been read, with `cursor` after it; false if more bytes are needed.
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) throws(WireError) -> Bool {
        if part == .name, cursor == line { scanUsualLines(bytes) }
        // A local, so that the loops below keep it in a register.
        var position = cursor
        defer { cursor = position }
        while true {
            let end = min(bytes.count, lineEnd)
            if part == .name {
                position = Octets.endOfToken(bytes, from: position, to: end)
                guard position < end else { break }
                if bytes[position] != Octets.colon || position == line {
                    guard try scanEmptyLine(bytes, &position, end) else { break }
                    return true
                }
                try endName(at: position)
                position &+= 1
            }
            if part == .padding {
                while position < end, Octets.isBlank(bytes[position]) { position &+= 1 }
                guard position < end else { break }
                valueStart = position
                part = .value
            }
            position = Octets.endOfText(bytes, from: position, to: end)
            guard position < end, try scanLineEnd(bytes, position, end) else { break }
            try addEntry(bytes, valueEnd: position)
            position &+= 2
            beginLine(at: position)
        }
        if bytes.count < lineEnd { return false }
        throw lineEnd == sectionEnd ? tooLarge : .lineTooLong(limit: lineLimit)
    }

    /// Takes complete lines of the usual form, `Name: value`. The first line that is cut, unusual, wrong or empty is
    /// left for `scan`, which knows all rules.
    @inline(__always)
    private mutating func scanUsualLines(_ bytes: UnsafeBufferPointer<UInt8>) {
        var start = line
        let (lineLimit, sectionEnd) = (lineLimit, sectionEnd)
        var isFull = true
        while isFull {
            let room = min(Self.usualCount, countLimit - entries.count)
            isFull = false
            // One allocation suffices for most responses, and its owner is looked up once.
            entries.append(addingCapacity: Self.usualCount) { found in
                while found.count < room {
                    let end = min(bytes.count, start &+ lineLimit, sectionEnd)
                    guard let entry = Self.usualLine(bytes, from: start, to: end) else { return }
                    found.append(entry)
                    start = Int(entry.valueStart) &+ Int(entry.valueCount) &+ 2
                }
                isFull = room > 0
            }
        }
        beginLine(at: start)
    }

    private static var usualCount: Int { 16 }

    @inline(__always)
    private static func hasTooManyMarks(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
        // A shorter value has no run that is too long.
        end &- start > 2 * MarkRun.longest && MarkRun.isTooLong(in: UnsafeBufferPointer(rebasing: bytes[start..<end]))
    }

    @inline(__always)
    private static func usualLine(
        _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> Fields.Entry? {
        let nameEnd = Octets.endOfToken(bytes, from: start, to: end)
        let valueStart = nameEnd &+ 2
        guard valueStart < end, nameEnd > start, nameEnd &- start <= Fields.longestName,
            bytes[nameEnd] == Octets.colon, bytes[nameEnd &+ 1] == Octets.space,
            !Octets.isBlank(bytes[valueStart])
        else { return nil }
        let valueEnd = Octets.endOfText(bytes, from: valueStart, to: end)
        guard valueEnd > valueStart, valueEnd &+ 1 < end, bytes[valueEnd] == Octets.cr,
            bytes[valueEnd &+ 1] == Octets.lf, !Octets.isBlank(bytes[valueEnd &- 1]),
            !hasTooManyMarks(bytes, valueStart, valueEnd)
        else { return nil }
        return Fields.Entry(name: start..<nameEnd, value: valueStart..<valueEnd)
    }

    @inline(__always)
    private mutating func endName(at position: Int) throws(WireError) {
        guard entries.count < countLimit else { throw tooMany }
        guard position &- line <= Fields.longestName else { throw .lineTooLong(limit: Fields.longestName) }
        nameEnd = position
        part = .padding
    }

    /// Handles the section's end, if that stopped the scan for a name. Returns false if its last byte is missing.
    private func scanEmptyLine(
        _ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int, _ end: Int
    ) throws(WireError) -> Bool {
        guard position == line, bytes[position] == Octets.cr else {
            throw nameError(bytes[position], isFirst: position == line)
        }
        guard try scanLineEnd(bytes, position, end) else { return false }
        position &+= 2
        return true
    }

    /// Whether the CR LF at `position` is there; false if its second byte is missing.
    @inline(__always)
    private func scanLineEnd(
        _ bytes: UnsafeBufferPointer<UInt8>, _ position: Int, _ end: Int
    ) throws(WireError) -> Bool {
        guard bytes[position] == Octets.cr else { throw .misplaced(bytes[position]) }
        guard position &+ 1 < end else { return false }
        guard bytes[position &+ 1] == Octets.lf else { throw .bareCarriageReturn }
        return true
    }

    @inline(__always)
    private mutating func addEntry(_ bytes: UnsafeBufferPointer<UInt8>, valueEnd: Int) throws(WireError) {
        var last = valueEnd
        while last > valueStart, Octets.isBlank(bytes[last &- 1]) { last &-= 1 }
        if Self.hasTooManyMarks(bytes, valueStart, last) { throw .tooManyMarks }
        entries.append(Fields.Entry(name: line..<nameEnd, value: valueStart..<last))
    }

    private var tooLarge: WireError {
        section == .head ? .headTooLarge(limit: sectionLimit) : .trailersTooLarge(limit: sectionLimit)
    }

    private var tooMany: WireError {
        section == .head ? .tooManyFields(limit: countLimit) : .tooManyTrailers(limit: countLimit)
    }

    private func nameError(_ byte: UInt8, isFirst: Bool) -> WireError {
        switch byte {
        case Octets.colon: .emptyFieldName
        case Octets.space, Octets.tab: isFirst ? .foldedLine : .whitespaceBeforeColon
        case Octets.cr: .missingColon
        case Octets.lf: isFirst ? .bareLineFeed : .missingColon
        default: Octets.isControl(byte) ? .controlCharacter : .invalidFieldName
        }
    }
}

extension WireError {
    /// The error for a control character, other than CR, where text was expected.
    static func misplaced(_ byte: UInt8) -> WireError {
        byte == Octets.lf ? .bareLineFeed : .controlCharacter
    }
}
