import DunlinTypes

/// The field lines of a head or of a trailer section, up to and with the empty line (RFC 9112 §5).
///
/// Knows: names are tokens and touch their colon; values have no control character but tab; blanks around a value
/// are not part of it; every line ends with CR LF; a line that begins with a blank is refused, as a user agent may
/// (§5.2). Must not know: what any field means.
///
/// Each byte is looked at once, wherever the input is cut: an error is decided by the first byte that is wrong, and a
/// limit by the byte that reaches it. After an error nothing has moved, so scanning again throws it again.
struct FieldScanner {
    enum Section {
        case head
        case trailers
    }

    private enum Part {
        case name
        case padding
        case value
    }

    private enum Progress {
        case advanced
        case starved
        case ended
    }

    private let section: Section
    private let lineLimit: Int
    private let countLimit: Int
    private let sectionLimit: Int

    private var part = Part.name
    private var sectionEnd = 0
    private var line = 0
    private var nameEnd = 0
    private var valueStart = 0
    /// Everything before it has been looked at.
    private(set) var cursor = 0
    var entries: [Fields.Entry] = []

    init(_ section: Section, limits: WireLimits) {
        self.section = section
        lineLimit = max(limits.lineBytes, 0)
        countLimit = section == .head ? limits.fieldCount : limits.trailerCount
        sectionLimit = max(section == .head ? limits.headBytes : limits.trailerBytes, 0)
    }

    /// Begins a section at `start`; its field lines begin at `line`.
    mutating func begin(section start: Int, line: Int) {
        sectionEnd = FieldScanner.clamped(start, sectionLimit)
        part = .name
        self.line = line
        cursor = line
    }

    /// Entries hold 32-bit offsets: what lies beyond them counts as too large.
    static func clamped(_ start: Int, _ limit: Int) -> Int {
        let (end, overflow) = start.addingReportingOverflow(limit)
        return overflow ? Int(UInt32.max) : min(end, Int(UInt32.max))
    }

    /// The bytes before `count` are going away.
    mutating func rebase(by count: Int) {
        sectionEnd -= count
        line -= count
        cursor -= count
        nameEnd -= count
        valueStart -= count
        for index in entries.indices {
            entries[index].nameStart -= UInt32(count)
            entries[index].valueStart -= UInt32(count)
        }
    }

    /// True once the empty line has been read: `cursor` is behind it. False when more bytes are needed.
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) throws(WireError) -> Bool {
        while true {
            let lineEnd = FieldScanner.clamped(line, lineLimit)
            let limit = min(lineEnd, sectionEnd)
            let end = min(bytes.count, limit)
            let progress =
                switch part {
                case .name: try scanName(bytes, end)
                case .padding: scanPadding(bytes, end)
                case .value: try scanValue(bytes, end)
                }
            switch progress {
            case .advanced: continue
            case .ended: return true
            case .starved where end < limit: return false
            case .starved: throw sectionEnd <= lineEnd ? tooLarge : .lineTooLong(limit: lineLimit)
            }
        }
    }

    @inline(__always)
    private mutating func scanName(_ bytes: UnsafeBufferPointer<UInt8>, _ end: Int) throws(WireError) -> Progress {
        var position = cursor
        while position < end, Octets.isToken(bytes[position]) { position &+= 1 }
        cursor = position
        guard position < end else { return .starved }
        if bytes[position] == Octets.colon, position > line {
            guard entries.count < countLimit else { throw tooMany }
            guard position - line <= Fields.longestName else { throw .lineTooLong(limit: Fields.longestName) }
            nameEnd = position
            cursor = position &+ 1
            part = .padding
            return .advanced
        }
        guard position == line, bytes[position] == Octets.cr else { throw nameError(bytes[position]) }
        guard position &+ 1 < end else { return .starved }
        guard bytes[position &+ 1] == Octets.lf else { throw .bareCarriageReturn }
        cursor = position &+ 2
        return .ended
    }

    @inline(__always)
    private mutating func scanPadding(_ bytes: UnsafeBufferPointer<UInt8>, _ end: Int) -> Progress {
        var position = cursor
        while position < end, Octets.isBlank(bytes[position]) { position &+= 1 }
        cursor = position
        guard position < end else { return .starved }
        valueStart = position
        part = .value
        return .advanced
    }

    @inline(__always)
    private mutating func scanValue(_ bytes: UnsafeBufferPointer<UInt8>, _ end: Int) throws(WireError) -> Progress {
        let position = Octets.endOfText(bytes, from: cursor, to: end)
        cursor = position
        guard position < end else { return .starved }
        guard bytes[position] == Octets.cr else { throw .misplaced(bytes[position]) }
        guard position &+ 1 < end else { return .starved }
        guard bytes[position &+ 1] == Octets.lf else { throw .bareCarriageReturn }
        var last = position
        while last > valueStart, Octets.isBlank(bytes[last &- 1]) { last &-= 1 }
        // One allocation holds what most responses have.
        if entries.isEmpty { entries.reserveCapacity(16) }
        entries.append(Fields.Entry(name: line..<nameEnd, value: valueStart..<last))
        line = position &+ 2
        cursor = line
        part = .name
        return .advanced
    }

    private var tooLarge: WireError {
        section == .head ? .headTooLarge(limit: sectionLimit) : .trailersTooLarge(limit: sectionLimit)
    }

    private var tooMany: WireError {
        section == .head ? .tooManyFields(limit: countLimit) : .tooManyTrailers(limit: countLimit)
    }

    private func nameError(_ byte: UInt8) -> WireError {
        let isFirst = cursor == line
        return switch byte {
        case Octets.colon: .emptyFieldName
        case Octets.space, Octets.tab: isFirst ? .foldedLine : .whitespaceBeforeColon
        case Octets.cr: .missingColon
        case Octets.lf: isFirst ? .bareLineFeed : .missingColon
        default: Octets.isControl(byte) ? .controlCharacter : .invalidFieldName
        }
    }
}

extension WireError {
    /// The error for a control character other than CR where text was expected.
    static func misplaced(_ byte: UInt8) -> WireError {
        byte == Octets.lf ? .bareLineFeed : .controlCharacter
    }
}
