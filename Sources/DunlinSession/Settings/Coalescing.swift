extension HTTPSession {
    /// Whether identical requests under way at the same time are sent as one.
    ///
    /// Identical are GETs without a body to the same URL, with the same fields, cookies and credentials, that use the
    /// cache in the same way; with or without a cache. One of them is sent, and the others get what it brings: the
    /// response as well as an error of the network. Each has its own limits, hooks and serializer, and each may be
    /// cancelled; if it is the one that was sent, another is sent in its place. A response is received as fast as it
    /// comes, however slowly a caller reads it.
    ///
    /// Not shared are events, bodies that are longer than `largestBody`, and requests with a proxy, guard, sockets or
    /// authentication handler of their own: each of these is sent by itself.
    public struct Coalescing: Sendable, Hashable {
        /// Off by default: a service may mean each of its requests to be seen.
        public var isOn: Bool
        /// In bytes, as they are received. Of a longer body this much is held in memory until its reader has it.
        public var largestBody: Int

        public init(isOn: Bool = false, largestBody: Int = 1 << 20) {
            (self.isOn, self.largestBody) = (isOn, largestBody)
        }
    }
}
