internal import DunlinReactor

extension HTTPSession {
    /// How a response's body is written to a file.
    public struct DownloadOptions: Sendable {
        /// Whether an existing file is replaced. If not, the download fails and leaves the file alone; it fails before
        /// the body is read if the file existed by then.
        public var overwrites: Bool
        /// Whether missing folders of the path are created.
        public var createsFolders: Bool
        /// What to do when a transfer breaks before the file is complete.
        public var resuming: Resuming
        /// Whether a download starts over if the part it should continue from is gone or damaged. By default, it starts
        /// over if the part was beside its destination, and fails with `NetworkError` code `invalidResumeData` if it
        /// was given resume data.
        public var startsOverIfDamaged: Bool?
        /// The digest that the file must have; a file with another one is discarded.
        public var digest: ContentDigest?
        /// Whether the file must match the response's `Repr-Digest` or `Content-Digest` (RFC 9530), if there is one in
        /// SHA-256 or SHA-512. A body with a content coding is not checked, because these digests cover the coded
        /// bytes.
        public var checksDigestFields = true
        /// The accepted content types, such as `image/png` or `image/*`; nil for any.
        public var contentTypes: HTTP.ContentTypes?
        /// The greatest number of bytes in the file; nil for no limit.
        public var bodyLimit: Int?
        /// Whether disk space is reserved for a body of known length, so that a download without enough space fails
        /// before the first byte.
        public var preallocates = true
        /// Whether the file and its name survive a power loss once the download is over. This costs a wait for the
        /// disk.
        public var isDurable = false

        /// How many exchanges may fetch segments of the file in parallel; nil for one. See <doc:Downloads> for the
        /// conditions.
        public var segments: Segments?

        /// Called when a file is complete and about to be moved to its name. If it throws, the file is not moved.
        var willPublish: (@Sendable (_ path: String, FileStatus) async throws -> Void)?

        public init(
            overwrites: Bool = false, createsFolders: Bool = false, resuming: Resuming = .whileRunning,
            digest: ContentDigest? = nil, contentTypes: HTTP.ContentTypes? = nil, bodyLimit: Int? = nil
        ) {
            self.overwrites = overwrites
            self.createsFolders = createsFolders
            self.resuming = resuming
            self.digest = digest
            self.contentTypes = contentTypes
            self.bodyLimit = bodyLimit
        }
    }
}

extension HTTPSession {
    /// What to do when a transfer breaks before the file is complete.
    ///
    /// A download continues where it broke only if the server gave the file a strong validator, usually an entity tag,
    /// and confirms each time that the file is unchanged. No content coding is then requested.
    public enum Resuming: Sendable, Hashable {
        /// The download fails.
        case never
        /// The download continues where it broke, up to three times without a new byte, with growing waits. If that
        /// does not help it fails, and leaves nothing unless the caller asked for resume data.
        case whileRunning
        /// Like `whileRunning`. In addition, the unfinished file stays when the download fails, is cancelled or killed,
        /// with a record beside it. The next download of the same URL to the same place continues from there.
        case ifValidatorMatches
    }
}
