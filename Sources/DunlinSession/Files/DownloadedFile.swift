extension HTTPSession {
    /// A file that a response's body has become.
    public struct DownloadedFile: Sendable, Hashable {
        /// Absolute.
        public var path: String
        public var byteCount: Int
        /// Of its contents, if it was asked for.
        public var digest: ContentDigest?
        /// How many of its bytes were there already when this download began.
        public var resumedAt: Int
        /// What the server or the URL calls it; safe as a name in a folder.
        public var suggestedName: String

        public init(
            path: String, byteCount: Int, digest: ContentDigest? = nil, resumedAt: Int = 0, suggestedName: String = ""
        ) {
            self.path = path
            self.byteCount = byteCount
            self.digest = digest
            self.resumedAt = resumedAt
            self.suggestedName = suggestedName
        }
    }
}
