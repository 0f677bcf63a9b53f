extension AWSSigner {
    /// A service by the name that signatures have for it, and the rules that it signs by: `.s3`, `"execute-api"`.
    public struct Service: Sendable, Hashable, ExpressibleByStringLiteral {
        public let name: String
        /// Whether the service signs as S3 does: the path is escaped once and is not normalised, and the body's hash is
        /// a field. Other services escape the path twice, without dot segments and empty ones.
        public let followsS3: Bool

        public static let s3 = Service("s3")

        /// Creates a service; by default S3's rules hold for those whose names are known to follow them.
        public init(_ name: String, followsS3: Bool? = nil) {
            self.name = name
            self.followsS3 = followsS3 ?? ["s3", "s3express", "s3-object-lambda", "s3-outposts"].contains(name)
        }

        public init(stringLiteral name: String) {
            self.init(name)
        }
    }
}
