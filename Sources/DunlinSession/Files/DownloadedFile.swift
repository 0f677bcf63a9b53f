extension HTTPSession {
    /// The file that a response's body was written to.
    public struct DownloadedFile: Sendable, Hashable {
        /// The absolute path.
        public var path: String
        public var byteCount: Int
        /// The digest of the contents, if it was requested.
        public var digest: ContentDigest?
        /// The number of bytes that were there already when this download began.
        public var resumedAt: Int
        /// The name that the server or URL suggests. It is safe as a file name in a folder.
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
