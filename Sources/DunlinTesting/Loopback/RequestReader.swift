internal import DunlinTypes

extension LoopbackServer {
    /// Splits what arrives on one connection into heads and bodies.
    struct RequestReader {
        let headLimit: Int
        private var inbox: [UInt8] = []

        init(headLimit: Int) {
            self.headLimit = headLimit
        }

        /// Whether bytes of the next request have been read already.
        var holdsInput: Bool { !inbox.isEmpty }

        /// The next head; nil if the client closed between requests.
        mutating func head(from channel: borrowing Channel) throws(Interruption) -> RequestHead? {
            if inbox.isEmpty {
                guard let bytes = try channel.receive() else { return nil }
                inbox = bytes
            }
            return try RequestHead(Array(try take(through: "\r\n\r\n", limit: headLimit, "head", from: channel)))
        }

        /// The next bytes as they come, without a meaning; nil at the end of the stream.
        mutating func raw(from channel: borrowing Channel) throws(Interruption) -> [UInt8]? {
            if inbox.isEmpty { return try channel.receive() }
            defer { inbox = [] }
            return inbox
        }

        /// Reads these bytes. Throws if others come.
        mutating func expect(_ bytes: Bytes, from channel: borrowing Channel) throws(Interruption) {
            while inbox.count < bytes.count { try fill("awaited bytes", from: channel) }
            guard inbox.prefix(bytes.count).elementsEqual(bytes) else {
                throw .truncated("expected the \(bytes.count) bytes of the script, and got others")
            }
            inbox.removeFirst(bytes.count)
        }

        mutating func body(
            _ framing: RequestHead.Framing, into sink: inout BodySink, from channel: borrowing Channel
        ) throws(Interruption) {
            switch framing {
            case .length(let length): try copy(length, into: &sink, from: channel)
            case .chunked: try chunks(into: &sink, from: channel)
            }
        }

        private mutating func chunks(
            into sink: inout BodySink, from channel: borrowing Channel
        ) throws(Interruption) {
            while true {
                let line = try take(through: "\r\n", limit: 4096, "chunk size", from: channel).dropLast(2)
                let digits = line.prefix { $0 != UInt8(ascii: ";") }
                let text = String(decoding: digits, as: UTF8.self)
                // Int's own parser would accept a sign.
                guard text.utf8.allSatisfy({ Hex.value($0) != nil }), let size = Int(text, radix: 16) else {
                    throw .malformed("chunk size \"\(text)\"")
                }
                if size == 0 { break }
                try copy(size, into: &sink, from: channel)
                guard try take(through: "\r\n", limit: 2, "end of a chunk", from: channel).count == 2 else {
                    throw .malformed("chunk longer than its size")
                }
            }
            sink.trailers = try trailers(from: channel)
        }

        private mutating func trailers(from channel: borrowing Channel) throws(Interruption) -> Fields {
            var raw: [UInt8] = []
            var lines: [Range<Int>] = []
            while true {
                let line = try take(through: "\r\n", limit: headLimit, "trailer", from: channel)
                if line.count == 2 { return try RequestHead.fields(lines, of: raw) }
                lines.append(raw.count..<(raw.count + line.count - 2))
                raw += line
            }
        }

        private mutating func copy(
            _ count: Int, into sink: inout BodySink, from channel: borrowing Channel
        ) throws(Interruption) {
            var left = count
            while left > 0 {
                if inbox.isEmpty { try fill("body", from: channel) }
                let taken = min(left, inbox.count)
                sink.append(inbox[..<taken])
                inbox.removeFirst(taken)
                left -= taken
            }
        }

        /// Takes what comes before `mark`, and the mark.
        private mutating func take(
            through mark: StaticString, limit: Int, _ what: String, from channel: borrowing Channel
        ) throws(Interruption) -> ArraySlice<UInt8> {
            var searched = 0
            while true {
                if let end = position(after: mark, from: searched) {
                    guard end <= limit else { throw .malformed("\(what) too long") }
                    let taken = inbox[..<end]
                    inbox.removeFirst(end)
                    return taken
                }
                guard inbox.count < limit else { throw .malformed("\(what) too long") }
                searched = max(inbox.count - mark.utf8CodeUnitCount + 1, 0)
                try fill(what, from: channel)
            }
        }

        private func position(after mark: StaticString, from start: Int) -> Int? {
            let size = mark.utf8CodeUnitCount
            return inbox.withUnsafeBufferPointer { bytes in
                mark.withUTF8Buffer { mark in
                    var index = start
                    while index + size <= bytes.count {
                        if bytes[index..<(index + size)].elementsEqual(mark) { return index + size }
                        index += 1
                    }
                    return nil
                }
            }
        }

        private mutating func fill(_ what: String, from channel: borrowing Channel) throws(Interruption) {
            let bytes: [UInt8]?
            do {
                bytes = try channel.receive()
            } catch .peerGone {
                bytes = nil
            }
            guard let bytes else { throw .truncated("end of stream in the \(what)") }
            inbox += bytes
        }
    }
}
