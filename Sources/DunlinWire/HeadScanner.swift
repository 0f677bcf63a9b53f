import DunlinTypes

/// Scans one head in a buffer: the status line, then the fields. `HeadParser` states the rules.
struct HeadScanner: Sendable {
    private enum Part {
        case version
        case reason
        case fields
    }

    private let headLimit: Int
    private let lineLimit: Int
    private let interimLimit: Int
    private var part = Part.version
    private var position = 0
    private var fields: FieldScanner

    /// The offset of the head's first byte.
    private(set) var start = 0
    private(set) var version = HTTP.Version.http11
    private(set) var status: HTTP.Status = 0
    private(set) var reason = 0..<0

    init(limits: WireLimits) {
        headLimit = max(limits.headBytes, 0)
        lineLimit = max(limits.lineBytes, 0)
        interimLimit = limits.interimResponses
        fields = FieldScanner(.head, limits: limits)
    }

    /// The offset after the head, once it is complete.
    var cursor: Int { fields.cursor }

    mutating func begin(at start: Int) {
        self.start = start
        position = start
        part = .version
    }

    mutating func rebase(by count: Int) {
        start -= count
        position -= count
        reason = max(reason.lowerBound - count, 0)..<max(reason.upperBound - count, 0)
        if part == .fields { fields.rebase(by: count) }
    }

    mutating func takeEntries() -> [Fields.Entry] {
        let entries = fields.entries
        fields.entries = []
        return entries
    }

    /// Returns what the complete head says about framing; nil if more bytes are needed.
    mutating func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, interimLeft: Int
    ) throws(WireError) -> FramingFields? {
        if part != .fields {
            guard try scanStatusLine(bytes, interimLeft: interimLeft) else { return nil }
            part = .fields
            fields.begin(section: start, line: position)
        }
        guard try fields.scan(bytes) else { return nil }
        var summary = FramingFields()
        fields.entries.withUnsafeBufferPointer { entries in
            for index in entries.indices where FramingFields.mayHaveName(ofLength: entries[index].nameCount) {
                summary.note(entries[index], in: bytes)
            }
        }
        return summary
    }

    private mutating func scanStatusLine(
        _ bytes: UnsafeBufferPointer<UInt8>, interimLeft: Int
    ) throws(WireError) -> Bool {
        let sectionEnd = FieldScanner.clamped(start, headLimit)
        let lineEnd = FieldScanner.clamped(start, lineLimit)
        let limit = min(lineEnd, sectionEnd)
        let end = min(bytes.count, limit)
        if part == .version, try scanVersion(bytes, end) {
            guard !status.isInterim || interimLeft > 0 else { throw .tooManyInterimResponses(limit: interimLimit) }
            part = .reason
        }
        if part == .reason, try scanReason(bytes, end) { return true }
        guard end < limit else {
            throw sectionEnd <= lineEnd ? .headTooLarge(limit: headLimit) : .lineTooLong(limit: lineLimit)
        }
        return false
    }

    /// Scans `HTTP/1.x 200`, the first twelve bytes; from the first again if not all of them are there.
    private mutating func scanVersion(_ bytes: UnsafeBufferPointer<UInt8>, _ end: Int) throws(WireError) -> Bool {
        let count = max(min(end - start, 12), 0)
        // If the first eight bytes are the usual ones, one comparison is enough.
        let known = count == 12 && Octets.word(bytes, at: start) == Octets.word(of: "HTTP/1.1") ? 8 : 0
        for offset in known..<count where !isExpected(bytes[start &+ offset], at: offset) {
            throw refusal(of: bytes[start &+ offset], at: offset)
        }
        guard count == 12 else { return false }
        version = bytes[start &+ 7] == UInt8(ascii: "0") ? .http10 : .http11
        func digit(_ offset: Int) -> Int { Int(bytes[start &+ offset] &- 0x30) }
        status = HTTP.Status(digit(9) * 100 + digit(10) * 10 + digit(11))
        position = start &+ 12
        return true
    }

    @inline(__always)
    private func isExpected(_ byte: UInt8, at offset: Int) -> Bool {
        switch offset {
        case 0: byte == UInt8(ascii: "H")
        case 1, 2: byte == UInt8(ascii: "T")
        case 3: byte == UInt8(ascii: "P")
        case 4: byte == UInt8(ascii: "/")
        case 5: byte == UInt8(ascii: "1")
        case 6: byte == UInt8(ascii: ".")
        case 8: byte == Octets.space
        case 9: byte != UInt8(ascii: "0") && Octets.isDigit(byte)
        default: Octets.isDigit(byte)
        }
    }

    private func refusal(of byte: UInt8, at offset: Int) -> WireError {
        switch offset {
        case 5: Octets.isDigit(byte) ? .unsupportedVersion : .invalidStatusLine
        case 9...: .invalidStatusCode
        default: .invalidStatusLine
        }
    }

    private mutating func scanReason(_ bytes: UnsafeBufferPointer<UInt8>, _ end: Int) throws(WireError) -> Bool {
        let first = start &+ 12
        guard first < end else { return false }
        guard bytes[first] == Octets.space || Octets.isControl(bytes[first]) else { throw .invalidStatusCode }
        position = Octets.endOfText(bytes, from: position, to: end)
        guard position < end else { return false }
        guard bytes[position] == Octets.cr else { throw .misplaced(bytes[position]) }
        guard position &+ 1 < end else { return false }
        guard bytes[position &+ 1] == Octets.lf else { throw .bareCarriageReturn }
        reason = min(first &+ 1, position)..<position
        position &+= 2
        return true
    }
}
