extension HTTPSession {
    /// Whether identical requests under way at the same time are sent as one.
    ///
    /// Identical are GETs without a body, for a whole response, to the same URL, with the same fields, cookies,
    /// credentials and limits, that use the cache in the same way; with or without a cache. One of them is sent, and
    /// the others get what it brings: the response as well as an error. Each has its own hooks and serializer, and may
    /// be cancelled; if it is the one that was sent, another is sent in its place. What is shared is received before
    /// anybody gets it, so nobody waits for another's reading. A request that comes after one that may have changed its
    /// URL was answered is not given what was asked for before.
    ///
    /// Not shared are streams and downloads, events, bodies that are longer than `largestBody`, redirects and errors
    /// whose body did not come with the head, and requests with a proxy, guard, sockets or authentication handler of
    /// their own: each of these is sent by itself.
    public struct Coalescing: Sendable, Hashable {
        /// Off by default: a service may mean each of its requests to be seen.
        public var isOn: Bool
        /// In bytes, as they are received.
        public var largestBody: Int

        public init(isOn: Bool = false, largestBody: Int = 1 << 20) {
            (self.isOn, self.largestBody) = (isOn, largestBody)
        }
    }
}
