public import DunlinTypes

/// An observer that is told what an exchange sends and receives, at once and on any thread. Most exchanges have none.
public protocol WireObserver: AnyObject, Sendable {
    /// How many bytes of each write and read it wants; nil for none.
    var wantedBytes: Int? { get }

    /// Whether it wants more than interim heads; without this, no other step is reported.
    var wantsAll: Bool { get }

    func saw(_ step: HTTP.WireStep)

    /// Is told of bytes that are sent or received.
    func saw(_ step: HTTP.WireStep, as part: WirePart)
}

/// What reported bytes are part of. The same bytes may be reported twice, as parts of both.
public enum WirePart: Sendable {
    /// All that a connection carries: heads, framing, bodies and trailers.
    case all
    /// A body, without its framing.
    case body
    /// Both: a whole write or read belongs to a body, or follows a 101.
    case both
}

extension WireObserver {
    func sees(received bytes: Bytes, as part: WirePart) {
        guard let wantedBytes, !bytes.isEmpty else { return }
        saw(.received(bytes.copy(ofFirst: wantedBytes), count: bytes.count), as: part)
    }

    func sees(sent bytes: Bytes, as part: WirePart) {
        guard let wantedBytes, !bytes.isEmpty else { return }
        saw(.sent(bytes.copy(ofFirst: wantedBytes), count: bytes.count), as: part)
    }

    /// Reports a request as it is sent: `opening` contains its head and a small body.
    func sees(_ opening: Bytes, of request: RequestHead) {
        guard wantsAll else { return }
        let (head, length) = RequestHead.sent(opening, of: request)
        saw(.requestHead(head))
        sees(sent: opening, as: .all)
        sees(sent: opening[length..<opening.count], as: .body)
    }
}

extension Bytes {
    /// A copy, which retains nothing else.
    fileprivate func copy(ofFirst count: Int) -> Bytes { Bytes(Array(self[0..<Swift.min(count, self.count)])) }
}

extension RequestHead {
    /// The head as it was encoded, which for a proxy has another target and other fields, and its length; sensitive
    /// fields stay sensitive.
    static func sent(_ opening: Bytes, of request: RequestHead) -> (RequestHead, length: Int) {
        var (target, fields) = (request.target, Fields())
        var lines = Array(opening)[...]
        var isFirst = true
        while let end = lines.firstIndex(of: 0x0D), end > lines.startIndex {
            let line = lines[..<end]
            lines = lines[end...].dropFirst(2)
            defer { isFirst = false }
            if isFirst {
                let words = line.split(separator: 0x20)
                if words.count == 3 { target = String(decoding: words[1], as: UTF8.self) }
                continue
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let value = String(decoding: line[line.index(after: colon)...].drop { $0 == 0x20 }, as: UTF8.self)
            fields.append(name: name, value: value, sensitive: request.fields.isSensitive(name))
        }
        let head = RequestHead(method: request.method, origin: request.origin, target: target, fields: fields)
        return (head, min(lines.startIndex + 2, opening.count))
    }
}
