/// One transfer of a journal, as it is saved: what was asked for, and how far that is.
///
/// It has what a process needs to do it again, and nothing secret: see `Request.init`.
///
/// It must not know files, locks or clocks.
struct JournalEntry: Sendable, Equatable, Codable {
    /// What is sent, each time from its beginning.
    struct Request: Sendable, Equatable, Codable {
        var method: String
        /// Absolute, without user info, and with asterisks for secrets in its query.
        var url: String
        /// Whether there are such asterisks; nil for no.
        var hidesSecrets: Bool?
        /// Earlier URLs of the same file.
        var formerURLs: [String] = []
        /// Names and values in turn.
        var fields: [String]
        /// Nanoseconds by limit; there is no limit where one is missing. Nil: the session's.
        var timeouts: [String: Int64]?
        var label: String?
        /// Its own; nil for the session's.
        var `guard`: HTTPSession.Guard?
        /// Whether it goes without the session's; nil for no.
        var hasNoGuard: Bool?
    }

    enum Work: Sendable, Equatable, Codable {
        case download(Download)
        case upload(Upload)
    }

    /// Where a response's body is written to.
    struct Download: Sendable, Equatable, Codable {
        /// Absolute.
        var path: String
        /// Whether the path is a folder's, in which the file gets the name that is suggested.
        var isFolder: Bool
        var overwrites: Bool
        var createsFolders: Bool
        var preallocates: Bool
        var contentTypes: HTTP.ContentTypes?
        var byteLimit: Int?
        var digestAlgorithm: String?
        var digest: String?
        var checksDigestFields: Bool
        var segments: HTTPSession.Segments?
    }

    /// The file that is a request's body.
    struct Upload: Sendable, Equatable, Codable {
        /// Absolute.
        var path: String
        var contentType: String?
    }

    /// A file that has its name, or is about to get it: a later process that finds just this one there knows that it
    /// had.
    struct NamedFile: Sendable, Equatable, Codable {
        var path: String
        var number: UInt64
        var length: Int
        var modified: Int
    }

    enum State: Sendable, Equatable, Codable {
        /// Nothing is on its way: the transfer was never begun, or it failed and waits for another attempt.
        case waiting
        /// Something was sent, or was about to be.
        case running
        /// All bytes are there; the file is about to get its name, or has it.
        case publishing(NamedFile)
    }

    let id: String
    var request: Request
    let work: Work
    /// The user's own words, as JSON.
    let metadata: String?
    var state = State.waiting
    /// How often it was begun, by all processes.
    var attempts = 0
    /// How often it failed and was to have another attempt.
    var failures = 0

    /// Makes the id of an entry, which is also its name in the folder.
    static func makeID() -> String { Hex.random() }

    static func isID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
