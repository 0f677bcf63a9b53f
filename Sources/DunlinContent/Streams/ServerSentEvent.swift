/// An event of a server's event stream (WHATWG HTML, "server-sent events").
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's name; `message` if the server gives none.
    public var name: String
    /// The event's data; several lines are joined by line feeds.
    public var data: String
    /// The last ID in the stream, from this event or an earlier one; empty if there was none.
    public var id: String
    /// How long to wait before reconnecting; nil if the stream has not said so.
    public var retry: Duration?
    /// The session's settings for content; nil for an event that a program made.
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

/// Makes events from lines, by the rules that browsers follow. It knows neither bytes nor streams.
package struct ServerSentEventMachine {
    private var name = ""
    private var data: String?
    private var id = ""
    private var retry: Duration?
    private var isFirst = true
    private let limit: Int

    package struct TooLong: Error, Equatable {}

    /// Creates a machine; `limit` is the greatest number of bytes of an event's data.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Takes a line. Returns the event that an empty line completes, if it has data.
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
            // Taken out of the property so that it grows in place.
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
