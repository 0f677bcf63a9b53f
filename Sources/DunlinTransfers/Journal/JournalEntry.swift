internal import DunlinSecure

/// One transfer of a journal as it is saved: what was requested, and how far it has come.
///
/// It contains what a process needs to do it again, and no secrets: see `Request.init`.
///
/// It must not know files, locks or clocks.
struct JournalEntry: Sendable, Equatable, Codable {
    /// The request, which is sent from the beginning each time.
    struct Request: Sendable, Equatable, Codable {
        var method: String
        /// The absolute URL, without user info and with asterisks for secrets in its query.
        var url: String
        /// Whether the URL has such asterisks.
        var hidesSecrets = false
        /// Earlier URLs of the same file.
        var formerURLs: [String] = []
        /// The options of its own that are saved.
        var saved = SavedOptions()
        /// The guard of the session that requested the transfer; nil for none, or if the request has a word of its own.
        /// It counts besides that of the session that sends it.
        var sessionGuard: HTTPSession.Guard?
        /// What the request had of its own that says who asks or which way it goes, and is not saved. Without it the
        /// request would be the session's user's.
        var unsaved: [String] = []
    }

    enum Work: Sendable, Equatable, Codable {
        case download(Download)
        case upload(Upload)
    }

    /// Where a response's body is written.
    struct Download: Sendable, Equatable, Codable {
        /// The absolute path.
        var path: String
        /// Whether the path is a folder, in which the file gets the suggested name.
        var isFolder: Bool
        var overwrites: Bool
        var createsFolders: Bool
        var preallocates: Bool
        var contentTypes: HTTP.ContentTypes?
        var bodyLimit: Int?
        var digestAlgorithm: String?
        var digest: String?
        var checksDigestFields: Bool
        var segments: HTTPSession.Segments?
    }

    /// The file that is the request's body.
    struct Upload: Sendable, Equatable, Codable {
        /// The absolute path.
        var path: String
        var contentType: String?
    }

    /// A file that has its name or is about to get it. A later process that finds exactly this file knows that it got
    /// the name.
    struct NamedFile: Sendable, Equatable, Codable {
        var path: String
        var number: UInt64
        var length: Int
        var modified: Int
    }

    enum State: Sendable, Equatable, Codable {
        /// Nothing is being sent: the transfer never began, or it failed and waits for another attempt.
        case waiting
        /// Something was sent or about to be sent.
        case running
        /// All bytes are there; the file has its name or is about to get it.
        case publishing(NamedFile)
    }

    let id: String
    var request: Request
    let work: Work
    /// The user's metadata, as JSON.
    let metadata: String?
    /// Whose transfer it is: a digest of the session's `userID`; nil if it had none.
    var user: String?
    var state = State.waiting
    /// How often the transfer was begun, by all processes.
    var attempts = 0
    /// How often it failed in a way that allowed another attempt.
    var failures = 0

    /// Creates the ID of an entry, which is also its file's name.
    static func makeID() -> String { Hex.random() }

    /// The digest of a user's name in the entry with this ID. Two of one user differ, but a name can be tried.
    static func digest(of user: String, id: String) throws(HashFunction.Unavailable) -> String {
        try HashFunction.sha256.hash(of: Bytes("\(id) \(user)")).hex
    }

    static func isID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
