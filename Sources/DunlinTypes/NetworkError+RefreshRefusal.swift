extension NetworkError {
    /// Why a refused credential was not replaced by another.
    public struct RefreshRefusal: Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String

        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        /// What the reason means, for a person.
        public var explanation: String {
            switch self {
            case .neverAccepted:
                "the server refused this one at its first use, so the next of the same refresh would be refused, too; "
                    + "check which server it is for, and its permissions"
            case .resting:
                "the last fetch failed, or brought one that was refused, and the pause after that is not over; it "
                    + "lasts 1 to 60 seconds"
            case .refusedAgain:
                "the server refused the one that was fetched for this request, too; check the credential's permissions"
            case .expiresTooSoon:
                "each one fetched for this request expired before the request reached the server; check its lifetime, "
                    + "and this machine's clock if the lifetime is computed from a date"
            default: rawValue
            }
        }

        /// The credential is new, and no server has ever accepted it.
        public static let neverAccepted = Self("neverAccepted")
        /// A recent refresh failed or brought a credential that was refused, and the wait after that is not over.
        public static let resting = Self("resting")
        /// The request was sent again with a new credential, which was refused too.
        public static let refusedAgain = Self("refusedAgain")
        /// The request was sent with several credentials, and each had expired when it reached the server.
        public static let expiresTooSoon = Self("expiresTooSoon")
    }
}
