/// What a stream of events is requested with, each time.
struct EventRequest: Sendable {
    let target: HTTP.Target
    let method: HTTP.Method?
    let query: HTTP.Query
    /// The body, or why there is none.
    let body: Result<RequestBody, any Error>
    var options: HTTPSession.Options
    let sentinel: String?
    let settings: HTTPSession.EventSettings
    /// The ID after which the stream begins; nil for none, or for that of the fields.
    let lastEventID: String?

    static let idField = "Last-Event-ID"

    /// The policy for failed attempts.
    var policy: HTTPSession.RetryPolicy {
        options.retry.resolved(HTTPSession.EventSettings.retry) ?? .never
    }

    var firstID: String { lastEventID ?? options.fields[Self.idField] ?? "" }

    /// The call of one attempt. Attempts are repeated by the stream's reader and not within the call. Its total is that
    /// of the stream. No stored or shared response is a stream from now on.
    func call(of core: SessionCore, after lastEventID: String) throws -> HTTPSession.Call {
        if let problem = settings.problem { throw NetworkError(.invalidRequest, "events: \(problem)") }
        let body = try body.get()
        var options = options
        options.timeouts.total = .none
        options.changeRare { values in
            values.retry = .none
            if values.cacheMode.isSession { values.cacheMode = .off }
            values.coalesces = false
        }
        options.fields.remove(Self.idField)
        if !lastEventID.isEmpty { options.fields.append(name: Self.idField, value: lastEventID) }
        if !options.fields.contains("Cache-Control") {
            options.fields.append(name: "Cache-Control", value: "no-cache")
        }
        return try core.call(
            method ?? (body.isNone ? .get : .post), target, query: query, body: body, options: options,
            accept: "text/event-stream", kind: .stream, isObserved: core.isObserved(options))
    }
}
