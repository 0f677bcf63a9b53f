import DunlinTypes

/// What a head's fields say about its body and its connection, not yet interpreted.
///
/// It knows Content-Length, Transfer-Encoding, Connection and Keep-Alive, each on any number of lines. It must not know
/// the status, version or request, which `ParsedHead.framing(for:)` adds.
struct FramingFields: Sendable, Hashable {
    enum Length: Sendable, Hashable {
        case absent
        case exactly(Int)
        case conflicting
        case malformed
    }

    enum Coding: Sendable, Hashable {
        case absent
        case none
        case chunked
        case chunkedTwice
        case chunkedNotLast
        case unknown
    }

    var length = Length.absent
    var coding = Coding.absent
    var saysClose = false
    var saysKeepAlive = false
    var keepAliveTimeout: Int?

    /// Whether a field can be one of these by the length of its name, which rules out most fields.
    @inline(__always)
    static func mayHaveName(ofLength count: UInt16) -> Bool {
        count == 10 || count == 14 || count == 17
    }

    mutating func note(_ entry: Fields.Entry, in bytes: UnsafeBufferPointer<UInt8>) {
        switch entry.nameCount {
        case 10: noteConnection(entry, in: bytes)
        case 14:
            if Octets.spells(bytes, entry.name, "content-length") { noteLength(bytes, entry.value) }
        case 17:
            if Octets.spells(bytes, entry.name, "transfer-encoding") { noteCodings(bytes, entry.value) }
        default: break
        }
    }

    private mutating func noteConnection(_ entry: Fields.Entry, in bytes: UnsafeBufferPointer<UInt8>) {
        if Octets.spells(bytes, entry.name, "connection") {
            noteOptions(bytes, entry.value)
        } else if Octets.spells(bytes, entry.name, "keep-alive") {
            noteTimeout(bytes, entry.value)
        }
    }

    /// "5, 5" is one length, repeated; "5, 6" is smuggling; "5," and "+5" are not lengths (RFC 9112 §6.3).
    private mutating func noteLength(_ bytes: UnsafeBufferPointer<UInt8>, _ value: Range<Int>) {
        // The usual value, without parsing a list.
        if let number = Octets.number(bytes, value) {
            add(number)
            return
        }
        var start = value.lowerBound
        while true {
            var end = start
            while end < value.upperBound, bytes[end] != Octets.comma { end &+= 1 }
            add(Octets.number(bytes, Octets.trimmed(bytes, start..<end)))
            if end == value.upperBound { return }
            start = end &+ 1
        }
    }

    private mutating func add(_ number: Int?) {
        guard let number else {
            length = .malformed
            return
        }
        switch length {
        case .absent: length = .exactly(number)
        case .exactly(let known) where known != number: length = .conflicting
        case .exactly, .conflicting, .malformed: break
        }
    }

    /// Chunked, once and last, is the only valid answer to a request without other transfer codings (RFC 9112 §6.1,
    /// §7.4).
    private mutating func noteCodings(_ bytes: UnsafeBufferPointer<UInt8>, _ value: Range<Int>) {
        if coding == .absent { coding = .none }
        var elements = ListElements(bytes, value)
        while let element = elements.next() {
            let isChunked = Octets.spells(bytes, element, "chunked")
            switch coding {
            case .absent, .none: coding = isChunked ? .chunked : .unknown
            case .chunked: coding = isChunked ? .chunkedTwice : .chunkedNotLast
            case .chunkedTwice, .chunkedNotLast, .unknown: return
            }
        }
    }

    /// An option that is not a token may have been meant as close, so it counts as close.
    private mutating func noteOptions(_ bytes: UnsafeBufferPointer<UInt8>, _ value: Range<Int>) {
        // The usual value, without parsing a list.
        if Octets.spells(bytes, value, "keep-alive") {
            saysKeepAlive = true
            return
        }
        var elements = ListElements(bytes, value)
        while let element = elements.next() {
            if Octets.spells(bytes, element, "keep-alive") {
                saysKeepAlive = true
            } else if Octets.spells(bytes, element, "close")
                || !element.allSatisfy({ TokenCharacters.contains(bytes[$0]) })
            {
                saysClose = true
            }
        }
    }

    /// `timeout=5, max=100`: only a hint, so a malformed one is ignored.
    private mutating func noteTimeout(_ bytes: UnsafeBufferPointer<UInt8>, _ value: Range<Int>) {
        var elements = ListElements(bytes, value)
        while let element = elements.next() {
            guard element.count > 8,
                Octets.spells(bytes, element.lowerBound..<(element.lowerBound + 8), "timeout="),
                let seconds = Octets.number(bytes, (element.lowerBound + 8)..<element.upperBound)
            else { continue }
            keepAliveTimeout = seconds
        }
    }
}
