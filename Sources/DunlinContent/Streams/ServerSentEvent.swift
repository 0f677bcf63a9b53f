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
