extension ServerSentEvent {
    /// Decodes the event's data from JSON, in its session's way, `event.json(Delta.self)`, or in another,
    /// `event.json(Delta.self, .snakeCase)`.
    public func json<Value: Decodable>(_ type: Value.Type, _ json: HTTP.JSON? = nil) throws -> Value {
        try (settings?.json(insteadOf: json) ?? json ?? .standard).decode(type, from: Bytes(data))
    }
}
