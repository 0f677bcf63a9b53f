extension HTTPSession {
    /// A redirect that is about to be followed.
    public struct RedirectProposal: Sendable {
        /// The request that was answered with a redirect.
        public let request: RedirectRequest
        /// The redirecting response. Its body is delivered with it if the decision is to stop.
        public let response: ResponseHead
        /// The request that will be sent if the redirect is followed. If the server's address is none that can be
        /// asked, such as `app://callback`, the URL is the server's text as it stands, and following it fails.
        public let next: RedirectRequest
        /// How many redirects were followed before this one.
        public let count: Int

        public init(request: RedirectRequest, response: ResponseHead, next: RedirectRequest, count: Int) {
            self.request = request
            self.response = response
            self.next = next
            self.count = count
        }
    }

    /// What to do about a redirect.
    public enum RedirectDecision: Sendable {
        case follow
        /// Send this instead. The rules about clear text hold for it too. If it goes to another origin than the
        /// proposed one, sensitive fields that were left as they were in the proposal are not sent there.
        case modify(RedirectRequest)
        /// Deliver the 3xx response with its body.
        case stop
    }
}
