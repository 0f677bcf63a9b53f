extension NetworkError {
    /// Why no other credential was got for a request whose own was refused.
    public struct RefreshRefusal: Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String

        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        /// What it means, for a person.
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

        /// The credential had just been got, and no server has ever accepted it.
        public static let neverAccepted = Self("neverAccepted")
        /// A refresh failed, or brought a credential that was refused, and the rest after that is not over.
        public static let resting = Self("resting")
        /// The request went with a new credential already, and that was refused too.
        public static let refusedAgain = Self("refusedAgain")
        /// The request went with several, and each had expired when it came to the server.
        public static let expiresTooSoon = Self("expiresTooSoon")
    }
}
