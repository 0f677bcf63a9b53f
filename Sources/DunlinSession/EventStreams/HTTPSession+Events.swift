extension HTTPSession {
    /// The server-sent events of a target, in a stream that is requested again whenever it ends or breaks.
    ///
    /// ```swift
    /// for try await event in client.events("v1/news") { show(event.data) }
    /// ```
    ///
    /// Each request is made as `stream` makes it, and asks for the events after the last one (`Last-Event-ID`). The
    /// stream ends with a 204, with an event whose data is `sentinel`, with an error that another attempt would not
    /// help, and when nobody reads it any more. Without a `method` it is a POST if there is a body, and a GET
    /// otherwise. A POST that the server may have carried out is not sent again unless `settings.repeatsNonIdempotent`
    /// says so, and after its first event only if the server has sent an ID; it then ends with its response.
    ///
    /// - Parameters:
    ///   - lastEventID: the ID after which the stream begins, of an earlier run.
    ///   - sentinel: the data of the event that ends the stream, such as `[DONE]`. It is not delivered.
    ///   - timeout: the longest time for all requests and waits together; none unless given here or in the options.
    public func events(
        _ target: HTTP.Target, method: HTTP.Method? = nil, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil,
        after lastEventID: String? = nil, until sentinel: String? = nil, settings: EventSettings = EventSettings(),
        timeout: Duration? = nil, options: Options = Options()
    ) -> EventStream {
        EventStream(
            session: self,
            request: EventRequest(
                target: target, method: method, query: query, body: Result { try self.body(body, json) },
                options: options.with(fields, timeout), sentinel: sentinel, settings: settings,
                lastEventID: lastEventID))
    }

    /// The values of a stream of server-sent events, each decoded from the JSON that an event has as its data, in the
    /// session's way. A value that cannot be decoded ends the stream with code `decodingFailed`: the error has the
    /// event's data as its body, and its reason has the number of the event.
    ///
    /// ```swift
    /// for try await delta in client.events("v1/chat", json: prompt, until: "[DONE]", as: Delta.self) {
    ///     text += delta.text
    /// }
    /// ```
    ///
    /// - Parameter names: the names of the events that have values; others are left out. Nil if all have.
    public func events<Value: Decodable>(
        _ target: HTTP.Target, method: HTTP.Method? = nil, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil,
        after lastEventID: String? = nil, until sentinel: String? = nil, named names: Set<String>? = nil,
        settings: EventSettings = EventSettings(), timeout: Duration? = nil, options: Options = Options(),
        as type: Value.Type
    ) -> EventValues<Value> {
        EventValues(
            events: events(
                target, method: method, query: query, fields: fields, body: body, json: json, after: lastEventID,
                until: sentinel, settings: settings, timeout: timeout, options: options),
            names: names.map { Set($0.map { ExactText($0) }) })
    }
}
