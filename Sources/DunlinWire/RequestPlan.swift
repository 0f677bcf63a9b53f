import DunlinTypes

/// A request that was checked and can be sent: `RequestEncoder` checks it, then writes it.
struct RequestPlan {
    typealias Text = UnsafeBufferPointer<UInt8>

    private enum Handling {
        /// The field is written unchanged.
        case kept
        /// The encoder writes its own.
        case dropped
    }

    /// What is known of the fields.
    enum FieldLines {
        /// They are lines that were checked before and are written unchanged.
        case prepared
        case unchecked
        /// There may be a field Upgrade, and its option in Connection.
        case uncheckedWithUpgrade
    }

    private let method: Text
    private let target: Text
    private let bytes: Text
    private let lines: FieldLines
    private let framing: RequestFraming
    private let isBodiless: Bool
    private var saysLength: Bool
    private var host: Text
    private var hasOwnHost = false
    private var hasTE = false
    /// Whether the caller's Connection names TE.
    private var namesTE = false
    private var fieldBytes = 0
    private(set) var traits = RequestTraits()

    init(
        _ head: RequestHead, _ framing: RequestFraming, _ line: (method: Text, target: Text, authority: Text),
        fields bytes: Text, as lines: FieldLines
    ) throws(WireError) {
        guard RequestCheck.isToken(line.method) else { throw .invalidMethod }
        try RequestCheck.target(line.target, for: head.method)
        (method, target) = (line.method, line.target)
        self.bytes = bytes
        self.framing = framing
        self.lines = lines
        (isBodiless, saysLength) = try RequestPlan.announcement(of: framing, head.method)
        // The server sends a TRACE back as it got it (RFC 9110 §9.3.8).
        if method.count == 5, head.method == .trace, head.fields.withoutSecrets().count < head.fields.count {
            throw .secretInTrace
        }
        let isConnect = method.count == 7 && head.method == .connect
        host = isConnect ? target : line.authority
        if lines == .prepared {
            fieldBytes = bytes.count
        } else {
            try plan(head.fields.entries)
        }
        let isChecked = head.origin.isHostChecked && !isConnect && !hasOwnHost
        guard isChecked || RequestCheck.isAuthority(host, needsPort: false) else { throw .invalidHost }
    }

    /// Whether the method has no body, and whether a length announces the body.
    private static func announcement(
        of framing: RequestFraming, _ method: HTTP.Method
    ) throws(WireError) -> (isBodiless: Bool, saysLength: Bool) {
        let isBodiless: Bool
        let wantsLength: Bool
        switch method.rawValue.utf8.count {
        case 3: (isBodiless, wantsLength) = (false, method == .put)
        case 4: (isBodiless, wantsLength) = (false, method == .post)
        case 5: (isBodiless, wantsLength) = (method == .trace, method == .patch || method == .query)
        case 7: (isBodiless, wantsLength) = (method == .connect, false)
        default: (isBodiless, wantsLength) = (false, false)
        }
        switch framing {
        case .none: return (isBodiless, wantsLength)
        case .length(let count) where count < 0: throw .negativeLength
        case .length(0): return (isBodiless, !isBodiless && !isUsuallyBodiless(method))
        case .length, .chunked:
            if isBodiless { throw .bodyNotAllowed }
            return (false, framing != .chunked)
        }
    }

    /// Whether a body has no meaning for the method, so that an empty one is not announced (RFC 9110 §8.6).
    private static func isUsuallyBodiless(_ method: HTTP.Method) -> Bool {
        method == .get || method == .head || method == .delete
    }

    private var length: Int {
        if case .length(let count) = framing { count } else { 0 }
    }

    private mutating func plan(_ entries: [Fields.Entry]) throws(WireError) {
        for entry in entries where try plan(entry) == .kept {
            fieldBytes &+= Int(entry.nameCount) &+ Int(entry.valueCount) &+ 4
        }
    }

    @inline(__always)
    private mutating func plan(_ entry: Fields.Entry) throws(WireError) -> Handling {
        try RequestCheck.field(bytes, entry)
        return RequestPlan.mayBeSpecial(entry) ? try planSpecial(entry) : .kept
    }

    /// Only names of these lengths are special; others cost one comparison.
    @inline(__always)
    private static func mayBeSpecial(_ entry: Fields.Entry) -> Bool {
        switch entry.nameCount {
        case 2, 4, 6, 7, 10, 14, 17: true
        default: false
        }
    }

    /// Whether the encoder checks this field together with the request.
    static func isSpecial(_ entry: Fields.Entry, in bytes: Text) -> Bool {
        guard mayBeSpecial(entry) else { return false }
        let names: [StaticString] = [
            "te", "host", "expect", "upgrade", "connection", "content-length", "transfer-encoding",
        ]
        return names.contains { Octets.spells(bytes, entry.name, $0) }
    }

    private mutating func planSpecial(_ entry: Fields.Entry) throws(WireError) -> Handling {
        let value = Octets.trimmed(bytes, entry.value)
        if Octets.spells(bytes, entry.name, "host") {
            guard !hasOwnHost else { throw .repeatedHost }
            hasOwnHost = true
            host = Text(rebasing: bytes[value])
            return .dropped
        }
        if Octets.spells(bytes, entry.name, "content-length") {
            guard framing != .chunked, !isBodiless, Octets.number(bytes, value) == length else {
                throw .contentLengthContradictsBody
            }
            saysLength = true
            return .dropped
        }
        if Octets.spells(bytes, entry.name, "transfer-encoding") {
            guard framing == .chunked, Octets.spells(bytes, value, "chunked") else {
                throw .transferEncodingContradictsBody
            }
            return .dropped
        }
        if Octets.spells(bytes, entry.name, "connection") {
            try noteOptions(value)
        } else if Octets.spells(bytes, entry.name, "te") {
            hasTE = true
            var elements = ListElements(bytes, value)
            // Of codings, only chunked can be read, and that is never listed (RFC 9112 §7.4).
            while let element = elements.next() {
                guard Octets.spells(bytes, element, "trailers") else { throw .unsupportedConnectionOption }
            }
        } else if lines != .uncheckedWithUpgrade, Octets.spells(bytes, entry.name, "upgrade") {
            throw .unsupportedConnectionOption
        } else if Octets.spells(bytes, entry.name, "expect") {
            traits.expectsContinue = Octets.spells(bytes, value, "100-continue")
        }
        return .kept
    }

    private mutating func noteOptions(_ value: Range<Int>) throws(WireError) {
        var options = ListElements(bytes, value)
        while let option = options.next() {
            if Octets.spells(bytes, option, "close") {
                traits.asksToClose = true
            } else if Octets.spells(bytes, option, "te") {
                namesTE = true
            } else if lines == .uncheckedWithUpgrade, Octets.spells(bytes, option, "upgrade") {
                continue
            } else if !Octets.spells(bytes, option, "keep-alive") {
                throw .unsupportedConnectionOption
            }
        }
    }
}

extension RequestPlan {
    /// Appends the head. An empty buffer is allocated once, with `room` for what the caller will add.
    ///
    /// It takes only the fields, since the closure would otherwise retain and copy the whole head.
    func write(_ entries: [Fields.Entry], into buffer: inout [UInt8], room: Int) {
        // The rest of the request line, the text around Host, the option TE, the body's announcement, the empty line.
        let fixed = 80
        let capacity = method.count + target.count + host.count + fieldBytes + fixed
        buffer.append(addingCapacity: capacity + (buffer.isEmpty ? room : 0)) { output in
            output.withUnsafeMutableBufferPointer { memory, count in count = write(entries, into: memory) }
        }
    }

    private func write(_ entries: [Fields.Entry], into memory: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var cursor = Cursor(memory)
        cursor.put(method)
        cursor.put(" ")
        cursor.put(target)
        cursor.put(" HTTP/1.1\r\nHost: ")
        cursor.put(host)
        cursor.put("\r\n")
        if lines == .prepared { cursor.put(bytes) } else { put(entries, &cursor) }
        if hasTE, !namesTE { cursor.put("Connection: TE\r\n") }
        putFraming(&cursor)
        cursor.put("\r\n")
        return cursor.count
    }

    private func put(_ entries: [Fields.Entry], _ cursor: inout Cursor) {
        for entry in entries where !isDropped(entry) {
            cursor.put(Text(rebasing: bytes[entry.name]))
            cursor.put(": ")
            cursor.put(Text(rebasing: bytes[Octets.trimmed(bytes, entry.value)]))
            cursor.put("\r\n")
        }
    }

    private func putFraming(_ cursor: inout Cursor) {
        if framing == .chunked {
            cursor.put("Transfer-Encoding: chunked\r\n")
        } else if saysLength {
            cursor.put("Content-Length: ")
            cursor.put(decimal: length)
            cursor.put("\r\n")
        }
    }

    @inline(__always)
    private func isDropped(_ entry: Fields.Entry) -> Bool {
        switch entry.nameCount {
        case 4: Octets.spells(bytes, entry.name, "host")
        case 14: Octets.spells(bytes, entry.name, "content-length")
        case 17: Octets.spells(bytes, entry.name, "transfer-encoding")
        default: false
        }
    }

    /// Writes into memory that has room for everything.
    private struct Cursor {
        private let memory: UnsafeMutableBufferPointer<UInt8>
        private(set) var count = 0

        init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
            self.memory = memory
        }

        @inline(__always) mutating func put(_ text: Text) {
            let room = UnsafeMutableBufferPointer(rebasing: memory[count..<(count &+ text.count)])
            _ = room.update(fromContentsOf: text)
            count &+= text.count
        }

        @inline(__always) mutating func put(_ text: StaticString) {
            put(Text(start: text.utf8Start, count: text.utf8CodeUnitCount))
        }

        mutating func put(decimal number: Int) {
            var divisor = 1
            while number / divisor >= 10 { divisor *= 10 }
            while divisor > 0 {
                memory[count] = UInt8(truncatingIfNeeded: number / divisor % 10) + UInt8(ascii: "0")
                count += 1
                divisor /= 10
            }
        }
    }
}
