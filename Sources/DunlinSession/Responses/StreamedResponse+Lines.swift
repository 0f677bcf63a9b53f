extension HTTPSession.StreamedResponse {
    /// The body's lines, each of at most 1 MiB.
    public var lines: BodySequence.Lines { lines(limit: 1 << 20) }

    /// The body's lines, each of at most `limit` bytes; a longer one fails with `NetworkError` code `limitExceeded`.
    public func lines(limit: Int) -> BodySequence.Lines { BodySequence.Lines(body: body, limit: limit) }

    /// The body as server-sent events, each of at most 1 MiB. An event that the body's end cuts short is left out.
    public var events: BodySequence.Events { events(limit: 1 << 20) }

    /// The body as server-sent events, each of at most `limit` bytes.
    public func events(limit: Int) -> BodySequence.Events {
        BodySequence.Events(lines: BodySequence.Lines(body: body, limit: limit, returnsEndLines: true))
    }

    /// The body as JSON, one value a line (NDJSON), each of at most `limit` bytes; read in the session's way unless
    /// another is given.
    public func values<Value: Decodable>(
        of type: Value.Type, _ json: HTTP.JSON? = nil, limit: Int = 1 << 20
    ) -> BodySequence.Values<Value> {
        BodySequence.Values(lines: BodySequence.Lines(body: body, limit: limit), json: json ?? self.json)
    }
}
