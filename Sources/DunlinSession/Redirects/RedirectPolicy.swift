internal import DunlinRules

extension HTTPSession {
    /// Whether redirects are followed, how many, and with which fields. What each status means is not a matter of
    /// policy: see <doc:Redirects>.
    public struct RedirectPolicy: Sendable, Hashable {
        public enum Mode: Sendable, Hashable {
            case follow
            /// Every 3xx response is delivered as it is; no hook is asked.
            case never
        }

        public var mode: Mode
        /// How many redirects are followed for one request; at the next it fails with `tooManyRedirects`.
        public var limit: Int
        /// Names of fields that no other origin may see, beside those of the session's `secretFields` and every field
        /// that was appended as sensitive.
        public var sensitiveFields: [String]
        /// **Lowers security.** Whether a redirect from https to http is followed. It is reported to
        /// `securityWarningHandler`. A session with pins never follows one.
        public var allowsHTTPSToHTTP = false

        public init(mode: Mode = .follow, limit: Int = 20, sensitiveFields: [String] = []) {
            self.mode = mode
            self.limit = limit
            self.sensitiveFields = sensitiveFields
        }

        public static let never = RedirectPolicy(mode: .never)
    }
}

extension HTTPSession.RedirectPolicy {
    /// What the rules go by. Secret are the usual fields and its own. The session's are marked in each request.
    var rules: RedirectMachine.Policy {
        RedirectMachine.Policy(
            follows: mode == .follow, limit: limit, allowsHTTPSToHTTP: allowsHTTPSToHTTP,
            secretFields: HTTP.SecretFields(sensitiveFields))
    }

    /// What this policy makes weaker.
    var warning: HTTPSession.SecurityWarning? {
        guard allowsHTTPSToHTTP, mode == .follow else { return nil }
        return HTTPSession.SecurityWarning(.redirectsMayLoseProtection, "redirects from https to http are followed")
    }
}
