internal import DunlinReactor

extension HTTPSession {
    /// How a response's body becomes a file.
    public struct DownloadOptions: Sendable {
        /// Whether a file that is there already is replaced. Without, such a download fails: before its body is read if
        /// the file was there then, and in any case without touching it.
        public var overwrites: Bool
        /// Whether folders on the way that are missing are made.
        public var createsFolders: Bool
        /// What to do when a transfer breaks before the file is whole.
        public var resuming: Resuming
        /// Whether a download begins anew that cannot go on with what it should, because that is gone or damaged. By
        /// default it does with what lay beside its destination, and fails with `NetworkError` code
        /// `invalidResumeData` with resume data.
        public var startsOverIfDamaged: Bool?
        /// What the file must be; one that is not is thrown away.
        public var digest: ContentDigest?
        /// Whether the file must be what the response's `Repr-Digest` or `Content-Digest` says (RFC 9530), if it says
        /// so in SHA-256 or SHA-512. A body with a content coding is not compared: they speak of the coded one.
        public var checksDigestFields = true
        /// The content types that are taken, such as `image/png` or `image/*`; any if nil.
        public var contentTypes: HTTP.ContentTypes?
        /// How long the file may become; any length if nil.
        public var byteLimit: Int?
        /// Whether a body of known length is given its room on the disk beforehand: if there is too little, the
        /// download fails before the first byte.
        public var preallocates = true
        /// Whether the file and its name survive a loss of power by the time the download is over. That costs a wait
        /// for the disk.
        public var isDurable = false

        /// How many exchanges may bring the file side by side; one if nil. See <doc:Downloads> for when they do.
        public var segments: Segments?

        /// Told of a file that is whole, and where it is about to be given its name. If that throws, it is not.
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
    /// A download goes on where it was only if the server gave the file a strong validator, an entity tag above all,
    /// and says each time that the file is still the same. No content coding is asked for then.
    public enum Resuming: Sendable, Hashable {
        /// It fails.
        case never
        /// It goes on where it was, up to three times without a new byte in between, each time a little later. If that
        /// does not help it fails, and nothing is left unless it was asked for.
        case whileRunning
        /// As `whileRunning`; and what there is of the file stays when it fails, is cancelled or killed, with a record
        /// beside it. The next download of the same URL to the same place goes on from there.
        case ifValidatorMatches
    }
}
