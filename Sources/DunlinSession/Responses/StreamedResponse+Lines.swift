extension HTTPSession.StreamedResponse {
    /// The body's lines, each of at most 1 MiB.
    public var lines: some AsyncSequence<String, any Error> & Sendable { lines(limit: 1 << 20) }

    /// Returns the body's lines, each of at most `limit` bytes; a longer one fails with `NetworkError` code
    /// `limitExceeded`.
    ///
    /// Lines, events and values are read only from successful responses: for a status other than 2xx, unless the
    /// session or `options.validatesResponse` allows it, reading fails with an error that has the beginning of the
    /// body. `body` delivers any response.
    public func lines(limit: Int) -> some AsyncSequence<String, any Error> & Sendable { linesOfSuccess(limit) }

    /// The body as server-sent events, each of at most 1 MiB. An event that is cut short by the end of the body is left
    /// out.
    public var events: some AsyncSequence<ServerSentEvent, any Error> & Sendable { events(limit: 1 << 20) }

    /// Returns the body as server-sent events, each of at most `limit` bytes. A content type other than
    /// `text/event-stream` is an error.
    public func events(limit: Int) -> some AsyncSequence<ServerSentEvent, any Error> & Sendable {
        eventSequence(limit, refusal: refusal(expecting: Self.eventTypes))
    }

    /// The body of a stream of events that is resumed after `lastEventID`. Its response must declare that it is one
    /// (WHATWG HTML, "server-sent events"), whatever else is validated: anything else would be requested for ever.
    func resumedEvents(_ limit: Int, after lastEventID: String) -> BodySequence.Events {
        let rules = HTTP.ResponseRules(
            statuses: isValidated ? .success : nil, contentTypes: Self.eventTypes, requiresContentType: true)
        return eventSequence(limit, after: lastEventID, refusal: refusal(by: rules))
    }

    private func eventSequence(
        _ limit: Int, after lastEventID: String = "", refusal: NetworkError?
    ) -> BodySequence.Events {
        BodySequence.Events(
            lines: BodySequence.Lines(
                body: body, limit: limit, returnsEndLines: true, refusal: refusal, keeping: keptBody),
            content, after: lastEventID)
    }

    /// Returns the body as JSON with one value on each line (NDJSON), each of at most `limit` bytes, read in the
    /// session's way unless another is given.
    public func values<Value: Decodable>(
        of type: Value.Type, _ json: HTTP.JSON? = nil, limit: Int = 1 << 20
    ) -> some AsyncSequence<Value, any Error> & Sendable {
        BodySequence.Values<Value>(lines: linesOfSuccess(limit), json: content.json(insteadOf: json))
    }

    private func linesOfSuccess(_ limit: Int) -> BodySequence.Lines {
        BodySequence.Lines(body: body, limit: limit, refusal: refusal(expecting: nil), keeping: keptBody)
    }

    private func refusal(expecting contentTypes: HTTP.ContentTypes?) -> NetworkError? {
        isValidated ? refusal(by: HTTP.ResponseRules(contentTypes: contentTypes)) : nil
    }

    private func refusal(by rules: HTTP.ResponseRules) -> NetworkError? {
        rules.refusal(of: head, in: content)
    }

    private static var eventTypes: HTTP.ContentTypes { ["text/event-stream"] }
}
