extension HTTPSession.StreamedResponse {
    /// The body's lines, each of at most 1 MiB.
    public var lines: BodySequence.Lines { lines(limit: 1 << 20) }

    /// The same with another limit; a longer line fails with `NetworkError` code `limitExceeded`.
    public func lines(limit: Int) -> BodySequence.Lines { BodySequence.Lines(body: body, limit: limit) }

    /// The body as server-sent events, each of at most 1 MiB. One that the body's end cuts short is dropped.
    public var events: BodySequence.Events { events(limit: 1 << 20) }

    /// The same with another limit.
    public func events(limit: Int) -> BodySequence.Events {
        BodySequence.Events(lines: BodySequence.Lines(body: body, limit: limit, returnsEndLines: true))
    }

    /// The body as JSON, a value a line (NDJSON), each of at most 1 MiB.
    public func values<Value: Decodable>(of type: Value.Type, limit: Int = 1 << 20) -> BodySequence.Values<Value> {
        BodySequence.Values(lines: BodySequence.Lines(body: body, limit: limit))
    }
}
