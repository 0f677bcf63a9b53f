public import Dunlin
public import FoundationEssentials

/// An HTTP archive (HAR 1.2): requests with their responses, as people, browsers and tests read them.
///
/// ```swift
/// let har = try HAR(contentsOf: "users.har")
/// for entry in har.entries { print(entry.request.method, entry.request.url, entry.response.status) }
/// ```
///
/// What HAR has no name for is in members whose names begin with an underscore, as the format asks.
public struct HAR: Sendable, Hashable {
    /// In the order in which the file has them.
    public var entries: [Entry]
    /// The program that wrote the file.
    public var creator: Creator
    /// How many exchanges the recorder could not write.
    public var lost: Int?
    /// The names, besides the usual ones, whose values were left out when the file was written.
    public var secretNames: [String]?
    /// Whether the end of the file was torn, as after a kill: what came after the last whole entry is not in `entries`.
    public internal(set) var wasTorn = false

    public init(_ entries: [Entry] = [], creator: Creator = .dunlin) {
        (self.entries, self.creator) = (entries, creator)
    }

    public struct Creator: Sendable, Hashable, Codable {
        public var name: String
        public var version: String

        public init(name: String, version: String) { (self.name, self.version) = (name, version) }

        public static let dunlin = Creator(name: "Dunlin", version: LibraryVersion.number)
    }

    /// One exchange: a request and its response.
    public struct Entry: Sendable, Hashable, Codable {
        public var startedDateTime: Date
        /// In milliseconds, as all times here.
        public var time: Double
        public var request: Request
        public var response: Response
        /// What a browser knows of its cache; an empty object elsewhere.
        public var cache: DynamicValue? = [:]
        public var timings: Timings
        public var serverIPAddress: String?
        public var connection: String?
        public var comment: String?
        /// The number of the request in its process, which its redirects and retries share.
        public var requestID: Int?
        /// The number of the exchange within its request, and that of the attempt, from 1.
        public var exchange: Int?
        public var attempt: Int?
        /// Where the response came from, if it is not a server: `memory`, `disk` or `shared`.
        public var fromCache: String?
        /// The interim responses, such as a 103.
        public var interim: [Interim]?
        /// The names, besides the usual ones, whose values were left out of this entry.
        public var secretNames: [String]?

        enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, connection, comment
            case requestID = "_requestID"
            case exchange = "_exchange"
            case attempt = "_attempt"
            case fromCache = "_fromCache"
            case interim = "_interim"
            case secretNames = "_secretNames"
        }

        public init(at time: Date, _ request: Request, _ response: Response, _ timings: Timings = Timings()) {
            (startedDateTime, self.request, self.response, self.timings) = (time, request, response, timings)
            self.time = timings.total
        }
    }

    public struct Request: Sendable, Hashable, Codable {
        public var method: String
        public var url: String
        public var httpVersion: String? = "HTTP/1.1"
        public var cookies: [Cookie]? = []
        public var headers: [NameValue] = []
        public var queryString: [NameValue]? = []
        public var postData: PostData?
        /// In bytes; -1 if it is not known.
        public var headersSize: Int? = -1
        public var bodySize: Int? = -1

        public init(_ method: String, _ url: String) { (self.method, self.url) = (method, url) }
    }

    public struct Response: Sendable, Hashable, Codable {
        /// 0 if none came.
        public var status: Int
        public var statusText: String? = ""
        public var httpVersion: String? = "HTTP/1.1"
        public var cookies: [Cookie]? = []
        public var headers: [NameValue] = []
        public var content = Content()
        public var redirectURL: String? = ""
        public var headersSize: Int? = -1
        public var bodySize: Int? = -1
        /// Why there was no response, or why its body broke off: the name of a `NetworkError.Code`, or a text.
        public var error: String?
        /// The phase of the error, whether the request was certainly not sent, and whether sending it again was safe.
        public var errorPhase: String?
        public var isUnsent: Bool?
        public var isSafeToRetry: Bool?

        enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
            case error = "_error"
            case errorPhase = "_phase"
            case isUnsent = "_unsent"
            case isSafeToRetry = "_safeToRetry"
        }

        public init(_ status: Int) { self.status = status }
    }

    public struct NameValue: Sendable, Hashable, Codable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    public struct Cookie: Sendable, Hashable, Codable {
        public var name: String
        public var value: String
        public var path: String?
        public var domain: String?
        public var expires: String?
        public var httpOnly: Bool?
        public var secure: Bool?

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    public struct PostData: Sendable, Hashable, Codable {
        public var mimeType: String
        public var params: [Parameter]?
        public var text: String?
        /// `base64` if the text is that of bytes.
        public var encoding: String?
        public var comment: String?
        /// Whether the text is not all of the body.
        public var isCut: Bool?

        enum CodingKeys: String, CodingKey {
            case mimeType, params, text, comment
            case encoding = "_encoding"
            case isCut = "_cut"
        }

        public init(_ mimeType: String) { self.mimeType = mimeType }

        /// The bytes of the text; nil if there is none.
        public var bytes: Bytes? { text.flatMap { HAR.bytes(of: $0, encoding) } }
    }

    public struct Content: Sendable, Hashable, Codable {
        /// The number of bytes without content codings.
        public var size: Int? = 0
        public var compression: Int?
        public var mimeType: String? = ""
        public var text: String?
        /// `base64` if the text is that of bytes.
        public var encoding: String?
        public var comment: String?
        /// Whether the text is not all of the body.
        public var isCut: Bool?

        enum CodingKeys: String, CodingKey {
            case size, compression, mimeType, text, encoding, comment
            case isCut = "_cut"
        }

        public init() {}

        /// The bytes of the text; nil if there is none.
        public var bytes: Bytes? { text.flatMap { HAR.bytes(of: $0, encoding) } }
    }

    static func bytes(of text: String, _ encoding: String?) -> Bytes? {
        encoding == "base64" ? Data(base64Encoded: text).map { Bytes($0) } : Bytes(text)
    }

    public struct Interim: Sendable, Hashable, Codable {
        public var status: Int
        public var headers: [NameValue]

        public init(_ status: Int, _ headers: [NameValue]) { (self.status, self.headers) = (status, headers) }
    }

    /// A parameter of a form.
    public struct Parameter: Sendable, Hashable, Codable {
        public var name: String
        public var value: String?
        public var fileName: String?
        public var contentType: String?

        public init(_ name: String, _ value: String?) { (self.name, self.value) = (name, value) }
    }

    /// In milliseconds; -1 for what did not happen.
    public struct Timings: Sendable, Hashable, Codable {
        public var blocked: Double? = -1
        public var dns: Double? = -1
        /// With TLS.
        public var connect: Double? = -1
        public var send: Double? = 0
        public var wait: Double? = 0
        public var receive: Double? = 0
        public var ssl: Double? = -1

        public init() {}

        /// The sum, in which `ssl` is a part of `connect`.
        var total: Double {
            [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1 ?? 0) }
        }
    }
}
