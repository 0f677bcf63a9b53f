extension HTTPSession {
    /// A redirect that is about to be followed.
    public struct RedirectProposal: Sendable {
        /// What was sent and answered with a redirect.
        public let request: RedirectRequest
        /// That answer. Its body is delivered with it if the decision is to stop.
        public let response: ResponseHead
        /// What will be sent if the redirect is followed. Its URL is the server's word as it stands if that leads to
        /// nothing we could ask, such as `app://callback`; following it fails then.
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
        /// Send this instead. The rules about clear text hold for it too. Should it go to another origin than the one
        /// proposed, sensitive fields that were left as they stood in the proposal are not sent there.
        case modify(RedirectRequest)
        /// Deliver the 3xx response with its body.
        case stop
    }
}
