extension HTTPSession {
    /// A redirect that is about to be followed.
    public struct RedirectProposal: Sendable {
        /// The request that was answered with a redirect.
        public let request: RedirectRequest
        /// The redirecting response. If the decision is to stop, it is delivered with its body.
        public let response: ResponseHead
        /// The request that will be sent if the redirect is followed. If the server's address cannot be requested, such
        /// as `app://callback`, the URL is the server's text unchanged, and following it fails.
        public let next: RedirectRequest
        /// The number of redirects followed before this one.
        public let count: Int

        public init(request: RedirectRequest, response: ResponseHead, next: RedirectRequest, count: Int) {
            self.request = request
            self.response = response
            self.next = next
            self.count = count
        }
    }

    /// What to do with a redirect.
    public enum RedirectDecision: Sendable {
        case follow
        /// Send this request instead. The rules about clear text apply to it too. If it goes to another origin than the
        /// proposed one, sensitive fields that are unchanged from the proposal are not sent there.
        case modify(RedirectRequest)
        /// Deliver the 3xx response with its body.
        case stop
    }
}
