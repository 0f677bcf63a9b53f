extension HTTPSession {
    /// Returns what the requests of this session send and receive from now on, until it is shut down: connections,
    /// heads as sent and received, interim responses, and sizes. Use it to find the reason of a failure.
    ///
    /// ```swift
    /// let trace = client.trace()
    /// Task { for await event in trace { print(event) } }
    /// ```
    ///
    /// - Secret fields are not printed. With `bytes`, that many of the first bytes of each piece of a body are
    ///   included, unchanged, whatever they contain. With `showingSecrets` too, they are those of each write and read
    ///   before TLS, with heads, framing, trailers and **every secret** in them.
    /// - Any number of traces is allowed, each with one reader. A slow reader loses events while `capacity` are
    ///   waiting, and gets their number instead (`TraceEvent.lost`). No request waits for it.
    /// - Requests that were made earlier are not traced, nor is what opens a connection. Without a trace, there is no
    ///   overhead.
    /// - With `tag`, only requests whose `tags` contain it are traced. To trace one request, give it a tag.
    public func trace(
        tagged tag: String? = nil, bytes: Int? = nil, showingSecrets: Bool = false, capacity: Int = 10_000
    ) -> AsyncStream<TraceEvent> {
        let wanted = bytes.map { max(0, $0) }
        return core.hub.trace(
            TraceReader(wantedBytes: wanted, capacity: capacity, tag: tag, showsSecrets: showingSecrets))
    }
}
