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
            case .neverAccepted: "the server refused a credential that had just been fetched, so another would not help"
            case .resting:
                "fetching a credential failed a moment ago, and the next try comes after one second to one minute"
            case .refusedAgain: "the credential that replaced it was refused too"
            case .expiresTooSoon: "each one expired before a request with it reached the server"
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
