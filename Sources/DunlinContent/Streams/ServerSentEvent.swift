/// What a server tells in a stream of events (WHATWG HTML, "server-sent events").
public struct ServerSentEvent: Sendable, Hashable {
    /// `message` where the server names none.
    public var name: String
    /// Its lines, with line feeds between them.
    public var data: String
    /// The last that the stream has given, by this event or one before; empty for none.
    public var id: String
    /// How long to wait before asking again, if the stream has ever said so.
    public var retry: Duration?
    /// What the session says of content; nil for an event that was made.
    package var settings: ContentSettings?

    public init(name: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.name = name
        self.data = data
        self.id = id
        self.retry = retry
    }
}

extension ServerSentEvent {
    public static func == (left: Self, right: Self) -> Bool {
        (left.name, left.data, left.id, left.retry) == (right.name, right.data, right.id, right.retry)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(data)
        hasher.combine(id)
        hasher.combine(retry)
    }
}

/// Makes events of lines, by the rules that browsers follow. Knows no bytes and no stream.
package struct ServerSentEventMachine {
    private var name = ""
    private var data: String?
    private var id = ""
    private var retry: Duration?
    private var isFirst = true
    private let limit: Int

    package struct TooLong: Error, Equatable {}

    /// `limit` is how many bytes of data an event may have.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The event that an empty line ends, if it has data.
    package mutating func take(_ line: String) throws(TooLong) -> ServerSentEvent? {
        var line = line[...]
        if isFirst, line.unicodeScalars.first == "\u{FEFF}" { line = Substring(line.unicodeScalars.dropFirst()) }
        isFirst = false
        if line.isEmpty { return event() }
        let bytes = line.utf8
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { bytes[bytes.index(after: $0)...] } ?? bytes[bytes.endIndex...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        try note(String(Substring(bytes[..<(colon ?? bytes.endIndex)])), String(Substring(value)))
        return nil
    }

    private mutating func note(_ field: String, _ value: String) throws(TooLong) {
        switch field {
        case "event": name = value
        case "data":
            let isFirst = data == nil
            // Taken out, so that it grows in place.
            var text = data.take() ?? ""
            if !isFirst { text += "\n" }
            text += value
            guard text.utf8.count <= limit else { throw TooLong() }
            data = text
        case "id" where !value.utf8.contains(0): id = value
        case "retry" where !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }:
            retry = Int64(value).map { .milliseconds($0) } ?? retry
        default: break
        }
    }

    private mutating func event() -> ServerSentEvent? {
        defer { (name, data) = ("", nil) }
        guard let data else { return nil }
        return ServerSentEvent(name: name.isEmpty ? "message" : name, data: data, id: id, retry: retry)
    }
}
