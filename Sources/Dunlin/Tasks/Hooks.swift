extension HTTPSession {
    /// What decides, or is told, while a request is on its way. A hook that is not set costs nothing.
    ///
    /// For what has to be decided the session's hook is asked first. Where it has no opinion, the request's is asked,
    /// and where that has none, the default counts. Hooks run off the loop; the request waits for them within its
    /// timeouts, and cancelling it cancels them.
    public struct Hooks: Sendable {
        /// Asked before a redirect is followed. Nil means no opinion; the default is to follow.
        public var redirect: (@Sendable (RedirectProposal) async -> RedirectDecision?)?
        /// Asked for a body when one that could be sent once must be sent again to follow a redirect. With nil for an
        /// answer the request fails with `NetworkError` code `bodyNotReplayable`.
        public var needsNewBody: (@Sendable (HopRequest) async -> RequestBody?)?

        public init() {}
    }

    /// What one hop of a request sends.
    public struct HopRequest: Sendable {
        public var method: Method
        /// Absolute, without user info.
        public var url: String
        public var fields: Fields
        public var body: RequestBody

        public init(method: Method, url: String, fields: Fields = Fields(), body: RequestBody = .none) {
            self.method = method
            self.url = url
            self.fields = fields
            self.body = body
        }
    }
}
