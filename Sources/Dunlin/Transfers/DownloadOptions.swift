extension HTTPSession {
    /// How a response's body becomes a file.
    public struct DownloadOptions: Sendable {
        /// Whether a file that is there already is replaced. Without, such a download fails: before its body is read if
        /// the file was there then, and in any case without touching it.
        public var overwrites: Bool
        /// Whether folders on the way that are missing are made.
        public var createsFolders: Bool
        /// What the file must be; one that is not is thrown away.
        public var digest: ContentDigest?
        /// The content types that are taken, such as `image/png` or `image/*`; any if there are none.
        public var contentTypes: [String]
        /// How long the file may become; any length if nil.
        public var byteLimit: Int?
        /// Whether a body of known length is given its room on the disk beforehand: if there is too little, the
        /// download fails before the first byte.
        public var preallocates = true
        /// Whether the file and its name survive a loss of power by the time the download is over. That costs a wait
        /// for the disk.
        public var isDurable = false

        public init(
            overwrites: Bool = false, createsFolders: Bool = false, digest: ContentDigest? = nil,
            contentTypes: [String] = [], byteLimit: Int? = nil
        ) {
            self.overwrites = overwrites
            self.createsFolders = createsFolders
            self.digest = digest
            self.contentTypes = contentTypes
            self.byteLimit = byteLimit
        }

        /// Whether content that is declared to be of this type is taken.
        func accepts(_ declared: String?) -> Bool {
            guard !contentTypes.isEmpty, let declared else { return true }
            let type = declared.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
            return contentTypes.map { $0.lowercased() }.contains { accepted in
                accepted == type || accepted == "*/*" || accepted.hasSuffix("/*") && type.hasPrefix(accepted.dropLast())
            }
        }
    }
}
