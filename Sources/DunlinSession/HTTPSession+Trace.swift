extension HTTPSession {
    /// What the requests of this session send and receive from now on, until it is shut down: connections, heads as
    /// they are sent and as they come, interim responses, and sizes. For whoever looks for the reason of a failure.
    ///
    /// ```swift
    /// let trace = client.trace()
    /// Task { for await event in trace { print(event) } }
    /// ```
    ///
    /// - Secret fields are left out of what is printed. With `bytes`, the first so many of each write and read are
    ///   told too, as they are before TLS: **they show every secret.**
    /// - There may be any number of traces; each has one reader. One that does not keep up loses what comes when
    ///   `capacity` events wait for it, and is told there how many (`TraceEvent.lost`). No request waits for it.
    /// - Requests that were made before are not traced, nor is what is sent to open a connection. Without a trace,
    ///   nothing of it is made.
    /// - With `tag`, only requests whose `tags` have it are traced: for one request, tag that.
    public func trace(tagged tag: String? = nil, bytes: Int? = nil, capacity: Int = 10_000) -> AsyncStream<TraceEvent> {
        core.hub.trace(TraceReader(wantedBytes: bytes.map { max(0, $0) }, capacity: capacity, tag: tag))
    }
}
