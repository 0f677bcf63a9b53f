internal import DunlinTypes

// The server's own parser of RFC 9112 §2 to §6, separate from Dunlin's and stricter than a real server's: it accepts
// only what a client may send, not everything that a server may tolerate. It knows the bytes of one head and no socket.
extension LoopbackServer {
    struct RequestHead {
        enum Framing: Equatable {
            case length(Int)
            case chunked
        }

        let method: HTTP.Method
        let target: String
        let version: HTTP.Version
        let fields: Fields
        let raw: Bytes
        let framing: Framing

        /// Reads a head that ends with its empty line.
        init(_ raw: [UInt8]) throws(Interruption) {
            var lines = try Self.lines(of: raw)[...]
            let parts = try Self.requestLine(raw[lines.popFirst() ?? 0..<0])
            method = HTTP.Method(parts.method)
            target = parts.target
            version = parts.version
            fields = try Self.fields(lines, of: raw)
            self.raw = Bytes(raw)
            framing = try Self.framing(fields)
            try checkHost()
        }

        var expectsContinue: Bool { fields["Expect"]?.lowercased() == "100-continue" }

        var wantsClose: Bool {
            let options = fields.values(of: "Connection").flatMap { $0.lowercased().split(separator: ",") }
            let isListed = { (option: String) in options.contains { $0.drop { $0 == " " } == option } }
            return version == .http10 ? !isListed("keep-alive") : isListed("close")
        }

        private func checkHost() throws(Interruption) {
            let count = fields.values(of: "Host").count
            guard count == 1 || (count == 0 && version == .http10) else {
                throw .malformed("\(count) Host fields")
            }
        }
    }
}

extension LoopbackServer.RequestHead {
    /// The ranges of the lines, without their CRLF and without the empty line at the end.
    private static func lines(of raw: [UInt8]) throws(LoopbackServer.Interruption) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        var index = 0
        while index < raw.count {
            let byte = raw[index]
            if byte == 0x0A || byte == 0 { throw .malformed("bare LF or NUL in the head") }
            if byte == 0x0D {
                guard index + 1 < raw.count, raw[index + 1] == 0x0A else { throw .malformed("bare CR in the head") }
                lines.append(start..<index)
                index += 1
                start = index + 1
            }
            index += 1
        }
        return lines.dropLast()
    }

    private static func requestLine(
        _ line: ArraySlice<UInt8>
    ) throws(LoopbackServer.Interruption) -> (method: String, target: String, version: HTTP.Version) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, isToken(parts[0]), !parts[1].isEmpty, parts[1].allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw .malformed("request line \"\(String(decoding: line, as: UTF8.self))\"")
        }
        let text = parts.map { String(decoding: $0, as: UTF8.self) }
        switch text[2] {
        case "HTTP/1.1": return (text[0], text[1], .http11)
        case "HTTP/1.0": return (text[0], text[1], .http10)
        default: throw .malformed("version \"\(text[2])\"")
        }
    }

    /// The fields as ranges of the raw head.
    static func fields(
        _ lines: some Sequence<Range<Int>>, of raw: [UInt8]
    ) throws(LoopbackServer.Interruption) -> Fields {
        var entries: [Fields.Entry] = []
        for line in lines {
            guard let colon = raw[line].firstIndex(of: UInt8(ascii: ":")), isToken(raw[line.lowerBound..<colon]) else {
                throw .malformed("field line \"\(String(decoding: raw[line], as: UTF8.self))\"")
            }
            let value = trimmed(raw[(colon + 1)..<line.upperBound])
            guard value.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
                throw .malformed("control byte in a field value")
            }
            entries.append(.init(name: line.lowerBound..<colon, value: value.startIndex..<value.endIndex))
        }
        return Fields(bytes: raw, entries: entries)
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var value = value.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        return value
    }

    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(TokenCharacters.contains)
    }

    /// The framing. A client that declares its framing twice, even in the same way, invites smuggling (RFC 9112 §6.3).
    private static func framing(_ fields: Fields) throws(LoopbackServer.Interruption) -> Framing {
        let codings = fields.values(of: "Transfer-Encoding")
        let lengths = fields.values(of: "Content-Length")
        switch (codings.count, lengths.count) {
        case (0, 0): return .length(0)
        case (1, 0):
            guard codings[0].lowercased() == "chunked" else { throw .malformed("coding \"\(codings[0])\"") }
            return .chunked
        case (0, 1):
            guard lengths[0].utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int(lengths[0]) else {
                throw .malformed("Content-Length \"\(lengths[0])\"")
            }
            return .length(length)
        default: throw .malformed("\(codings.count) Transfer-Encoding and \(lengths.count) Content-Length fields")
        }
    }
}
