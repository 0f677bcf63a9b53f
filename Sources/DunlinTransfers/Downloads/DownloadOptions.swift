internal import DunlinReactor

extension HTTPSession {
    /// How a response's body is written to a file.
    public struct DownloadOptions: Sendable {
        /// Whether an existing file is replaced. If not, the download fails and leaves that file alone: before the body
        /// is read if the file was there by then.
        public var overwrites: Bool
        /// Whether missing folders of the path are made.
        public var createsFolders: Bool
        /// What to do when a transfer breaks before the file is whole.
        public var resuming: Resuming
        /// Whether a download starts over if what it should go on with is gone or damaged. By default it starts over if
        /// that lay beside its destination, and fails with `NetworkError` code `invalidResumeData` if it was given
        /// resume data.
        public var startsOverIfDamaged: Bool?
        /// The digest that the file must have; a file with another one is discarded.
        public var digest: ContentDigest?
        /// Whether the file must match the response's `Repr-Digest` or `Content-Digest` (RFC 9530), if there is one in
        /// SHA-256 or SHA-512. A body with a content coding is not compared, because they are digests of the coded one.
        public var checksDigestFields = true
        /// The content types that are accepted, such as `image/png` or `image/*`; any if nil.
        public var contentTypes: HTTP.ContentTypes?
        /// Bytes that the file may have; any number if nil.
        public var byteLimit: Int?
        /// Whether disk space is reserved for a body of known length: if there is too little, the download fails before
        /// the first byte.
        public var preallocates = true
        /// Whether the file and its name survive a loss of power once the download is over. That costs a wait for the
        /// disk.
        public var isDurable = false

        /// How many exchanges may fetch segments of the file side by side; one if nil. See <doc:Downloads> for when
        /// they do.
        public var segments: Segments?

        /// Told of a file that is whole and is about to be moved to its name. If it throws, the file is not moved.
        var willPublish: (@Sendable (_ path: String, FileStatus) async throws -> Void)?

        public init(
            overwrites: Bool = false, createsFolders: Bool = false, resuming: Resuming = .whileRunning,
            digest: ContentDigest? = nil, contentTypes: HTTP.ContentTypes? = nil, byteLimit: Int? = nil
        ) {
            self.overwrites = overwrites
            self.createsFolders = createsFolders
            self.resuming = resuming
            self.digest = digest
            self.contentTypes = contentTypes
            self.byteLimit = byteLimit
        }
    }
}

extension HTTPSession {
    /// What to do when a transfer breaks before the file is whole.
    ///
    /// A download goes on where it broke only if the server gave the file a strong validator, an entity tag above all,
    /// and says each time that the file is still the same. No content coding is asked for then.
    public enum Resuming: Sendable, Hashable {
        /// The download fails.
        case never
        /// The download goes on where it broke, up to three times without a new byte in between, each time a little
        /// later. If that does not help it fails, and nothing is left unless the caller asked for resume data.
        case whileRunning
        /// As `whileRunning`. Also, the unfinished file stays when the download fails, is cancelled or killed, with a
        /// record beside it. The next download of the same URL to the same place goes on from there.
        case ifValidatorMatches
    }
}
