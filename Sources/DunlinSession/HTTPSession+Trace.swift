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
    ///   told too, as they are before TLS. In heads an asterisk stands for each byte of a secret; a body is shown as it
    ///   is, whatever it says. `showingSecrets` shows **every secret** of heads too.
    /// - There may be any number of traces; each has one reader. One that does not keep up loses what comes when
    ///   `capacity` events wait for it, and is told there how many (`TraceEvent.lost`). No request waits for it.
    /// - Requests that were made before are not traced, nor is what is sent to open a connection. Without a trace,
    ///   nothing of it is made.
    /// - With `tag`, only requests whose `tags` have it are traced: for one request, tag that.
    public func trace(
        tagged tag: String? = nil, bytes: Int? = nil, showingSecrets: Bool = false, capacity: Int = 10_000
    ) -> AsyncStream<TraceEvent> {
        let wanted = bytes.map { max(0, $0) }
        return core.hub.trace(
            TraceReader(wantedBytes: wanted, capacity: capacity, tag: tag, showsSecrets: showingSecrets))
    }
}
