/// One transfer of a journal, as it is written down: what was asked for, and how far that is.
///
/// What a process needs to do it again is here, and nothing secret: see `Request.init`.
///
/// Must not know: files, locks, clocks.
struct JournalEntry: Sendable, Equatable, Codable {
    /// What is sent, each time from its beginning.
    struct Request: Sendable, Equatable, Codable {
        var method: String
        /// Absolute, without user info.
        var url: String
        /// Where the same was asked for before.
        var formerURLs: [String] = []
        /// Names and values in turn.
        var fields: [String]
        /// In nanoseconds, by phase; without limit where a phase is missing. Nil: the session's.
        var timeouts: [String: Int64]?
        var label: String?
    }

    enum Work: Sendable, Equatable, Codable {
        case download(Download)
        case upload(Upload)
    }

    /// What a response's body becomes.
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

    /// What a request's body is.
    struct Upload: Sendable, Equatable, Codable {
        /// Absolute.
        var path: String
        var contentType: String?
    }

    /// A file that has been given a name, or is about to be: whoever finds just this one there knows that it was.
    struct NamedFile: Sendable, Equatable, Codable {
        var path: String
        var number: UInt64
        var length: Int
        var modified: Int
    }

    enum State: Sendable, Equatable, Codable {
        /// Nothing is on its way: it never was, or it failed and is to be tried again.
        case waiting
        /// Something was sent, or was about to be.
        case running
        /// All is there; the file is about to get its name, or has it.
        case publishing(NamedFile)
    }

    let id: String
    var request: Request
    let work: Work
    /// The user's own words, as JSON.
    let metadata: String?
    var state = State.waiting
    /// How often it was begun, by all processes together.
    var attempts = 0
    /// How often it failed and was to be tried again.
    var failures = 0

    /// Tells entries apart, and is their name in the folder.
    static func makeID() -> String {
        var random = SystemRandomNumberGenerator()
        return [random.next(), random.next()].map { (word: UInt64) in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    static func isID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
