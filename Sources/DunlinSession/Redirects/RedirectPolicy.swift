internal import DunlinRules

extension HTTPSession {
    /// Whether redirects are followed, how many, and with which fields. What each status means is not a matter of
    /// policy: see <doc:Redirects>.
    public struct RedirectPolicy: Sendable, Hashable {
        /// False for every 3xx response to be delivered as it is; no hook is asked then.
        public var follows = true
        /// How many redirects are followed for one request; at the next it fails with `tooManyRedirects`.
        public var limit: Int
        /// Names of fields that no other origin may see, beside those of the session's `secretFields` and every field
        /// that was appended as sensitive.
        public var sensitiveFields: [String]
        /// **Lowers security.** Whether a redirect from https to http is followed. It is reported to
        /// `securityWarningHandler`. A session with pins never follows one.
        public var allowsHTTPSToHTTP = false

        public init(limit: Int = 20, sensitiveFields: [String] = []) {
            self.limit = limit
            self.sensitiveFields = sensitiveFields
        }

        /// Follows none.
        public static let never = {
            var policy = RedirectPolicy()
            policy.follows = false
            return policy
        }()
    }
}

extension HTTPSession.RedirectPolicy {
    /// What the rules go by. Secret are the usual fields and its own. The session's are marked in each request.
    var rules: RedirectMachine.Policy {
        RedirectMachine.Policy(
            follows: follows, limit: limit, allowsHTTPSToHTTP: allowsHTTPSToHTTP,
            secretFields: HTTP.SecretFields(sensitiveFields))
    }

    /// What this policy makes weaker.
    var warning: HTTPSession.SecurityWarning? {
        guard allowsHTTPSToHTTP, follows else { return nil }
        return HTTPSession.SecurityWarning(.redirectsMayLoseProtection, "redirects from https to http are followed")
    }
}
