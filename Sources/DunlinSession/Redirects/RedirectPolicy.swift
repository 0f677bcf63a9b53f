internal import DunlinRules

extension HTTPSession {
    /// Whether redirects are followed, how many, and with which fields. The meaning of each status does not depend on
    /// the policy: see <doc:Redirects>.
    public struct RedirectPolicy: Sendable, Hashable {
        /// Whether redirects are followed. If not, every 3xx response is delivered unchanged, and no hook is asked.
        public var follows = true
        /// The number of redirects that are followed for one request. One more fails with `tooManyRedirects`.
        public var limit: Int
        /// The names of fields that no other origin may see, in addition to the session's `secretFields` and fields
        /// that were appended as sensitive.
        public var secretFields: [String]
        /// **Lowers security.** Whether redirects from https to http are followed. This is reported to
        /// `securityWarningHandler`. A session with pins never follows them.
        public var allowsHTTPSToHTTP = false

        public init(limit: Int = 20, secretFields: [String] = []) {
            self.limit = limit
            self.secretFields = secretFields
        }

        /// A policy that follows up to `limit` redirects.
        public static func follow(limit: Int = 20) -> RedirectPolicy { RedirectPolicy(limit: limit) }

        /// A policy that follows no redirects.
        public static let never = {
            var policy = RedirectPolicy()
            policy.follows = false
            return policy
        }()
    }
}

extension HTTPSession.RedirectPolicy {
    /// The rules for the machine. The usual fields and the policy's own are secret; the session's are marked in each
    /// request.
    var rules: RedirectMachine.Policy {
        RedirectMachine.Policy(
            follows: follows, limit: limit, allowsHTTPSToHTTP: allowsHTTPSToHTTP,
            secretFields: HTTP.SecretFields(secretFields))
    }

    /// The warning for this policy; nil if it lowers no security.
    var warning: HTTPSession.SecurityWarning? {
        guard allowsHTTPSToHTTP, follows else { return nil }
        return HTTPSession.SecurityWarning(.redirectsMayLoseProtection, "redirects from https to http are followed")
    }
}
