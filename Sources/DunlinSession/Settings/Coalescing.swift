extension HTTPSession {
    /// Whether identical simultaneous requests are sent as one.
    ///
    /// Requests are identical if they are GETs without a body, for a whole response, to the same URL, with the same
    /// fields, cookies, credentials and time limits, and the same use of the cache, if there is one. One of them is
    /// sent, and the others get its result, a response or an error. Each has its own hooks, serializer and `bodyLimit`,
    /// and can be cancelled; if the one that was sent is cancelled, another is sent instead. The response is received
    /// completely before anybody gets it, so nobody waits for another's reading. A request made after the answer to one
    /// that may have changed its URL does not share an earlier request's response.
    ///
    /// Streams and downloads, events, bodies longer than `largestBody`, redirects and errors whose body did not come
    /// with the head, requests with their own proxy, guard, sockets or authentication handler, and requests of code
    /// within others, such as hooks and interceptors, are not shared: each is sent separately.
    public struct Coalescing: Sendable, Hashable {
        /// Whether it is on. Off by default, since a service may rely on seeing each of its requests.
        public var isOn: Bool
        /// The length of the largest shared body, in bytes as received.
        public var largestBody: Int

        public init(isOn: Bool = false, largestBody: Int = 1 << 20) {
            (self.isOn, self.largestBody) = (isOn, largestBody)
        }
    }
}
