extension ServerSentEvent {
    /// The event's data decoded from JSON: `event.json(Delta.self)`, or `event.json(Delta.self, .snakeCase)`.
    public func json<Value: Decodable>(_ type: Value.Type, _ json: HTTP.JSON = .standard) throws -> Value {
        try json.decode(type, from: Bytes(data))
    }
}
