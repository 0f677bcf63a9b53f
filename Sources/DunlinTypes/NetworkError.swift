/// Why a request failed, and whether it may be sent again.
public struct NetworkError: Error, Sendable {
    /// What went wrong. An open set: new codes may appear in minor releases.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String

        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }
    }

    public var code: Code
    /// The request that failed; nil for an error that is about none.
    public var request: RequestName?
    /// Where the request was, whichever limit it ran into; nil if it was in no phase.
    public var phase: HTTP.Phase?
    /// Which limit was exceeded, for a timeout: the phase's own, or that of the whole.
    public var exceeded: Timeouts.Limit?
    /// Whether a byte of the request may have reached the peer.
    public var requestMayHaveBeenSent: Bool
    /// Whether sending the same request again cannot do its work twice.
    public var isSafeToRetry: Bool
    /// Whether the connection had served other requests before: the peer may just have been closing it.
    public var connectionWasReused = false
    /// How long that limit is, where it is known.
    public var limit: Duration?
    public var elapsed: Duration?
    /// The peer it happened with: an origin or an address.
    public var peer: String?
    /// One sentence for a person, of a single line.
    public var reason: String
    public var underlying: (any Error)?
    /// The response, if its head had come.
    public var response: ResponseHead?
    /// The beginning of that response's body, up to a limit: of a body that was refused, or as far as it came.
    public var body: Bytes?
    /// Whether the description shows the beginning of that body, if it is text.
    public var showsBody = true
    /// How the last hop spent its time.
    public var hop: HTTP.Hop?
    /// The earlier attempts, if a retry policy had the request sent again.
    public var retries: [NetworkError.RetriedAttempt] = []
    /// Why there was no further attempt, if the policy is for what happened.
    public var retryRefusal: NetworkError.RetryRefusal?
    /// Why no other credential was got, if an authenticator's was refused.
    public var refreshRefusal: NetworkError.RefreshRefusal?
    /// Whether the user's code chose to end the request with it: then nothing is sent again, whatever the code says.
    package var isDecided = false
    /// What the request left behind, such as resume data.
    package var leftover: (any Sendable)?
    /// Says the request as a command; nil for an error that is about none.
    package var command: (any CommandSource)?
    /// The names that are left out of what is shown of the body.
    package var secretFields = HTTP.SecretFields.usual

    public init(
        _ code: Code, _ reason: String, phase: HTTP.Phase? = nil, requestMayHaveBeenSent: Bool = false,
        isSafeToRetry: Bool = false, exceeding exceeded: Timeouts.Limit? = nil, limit: Duration? = nil,
        elapsed: Duration? = nil, peer: String? = nil, underlying: (any Error)? = nil, response: ResponseHead? = nil,
        body: Bytes? = nil
    ) {
        self.code = code
        // The reason may contain text of a server.
        self.reason = VisibleText.of(reason)
        self.phase = phase
        self.exceeded = exceeded
        self.requestMayHaveBeenSent = requestMayHaveBeenSent
        self.isSafeToRetry = isSafeToRetry
        self.limit = limit
        self.elapsed = elapsed
        self.peer = peer
        self.underlying = underlying
        self.response = response
        self.body = body
    }
}

extension NetworkError.Code {
    /// The request can't be written: a bad method, target or field, or a target that is no URL.
    public static let invalidRequest = Self("invalidRequest")
    /// The parameters cannot be written in the format they were to be sent in.
    public static let invalidParameters = Self("invalidParameters")
    /// A part of a multipart form cannot be sent: its file is missing, or one of its fields is malformed.
    public static let invalidPart = Self("invalidPart")
    /// The URL names a scheme that Dunlin does not speak.
    public static let unsupportedScheme = Self("unsupportedScheme")
    /// The configuration contradicts itself.
    public static let invalidConfiguration = Self("invalidConfiguration")
    public static let nameNotResolved = Self("nameNotResolved")
    public static let connectionFailed = Self("connectionFailed")
    /// There are routes to the host, but only through interfaces that the rules refuse; the underlying
    /// `NetworkError.InterfaceRefusal` names them.
    public static let interfaceRefused = Self("interfaceRefused")
    /// The guard does not allow where the request was to go; the reason names what was refused, and why.
    public static let guardRefused = Self("guardRefused")
    /// The proxy made no tunnel to the origin: it refused, ended the connection, or broke its protocol. The response,
    /// if there is one, is the proxy's.
    public static let proxyFailed = Self("proxyFailed")
    /// The proxy asks for credentials that it has not got, or refuses those it has. The response is the proxy's.
    public static let proxyAuthenticationFailed = Self("proxyAuthenticationFailed")
    /// The peer ended the connection before the response was complete.
    public static let connectionClosed = Self("connectionClosed")
    /// The peer broke the rules of HTTP.
    public static let invalidResponse = Self("invalidResponse")
    /// The content is not what its coding says.
    public static let invalidContent = Self("invalidContent")
    /// A limit of this session was exceeded by the response.
    public static let limitExceeded = Self("limitExceeded")
    /// More requests wait for a connection than the session allows.
    public static let poolExhausted = Self("poolExhausted")
    /// More requests wait for their turn than the session's queue allows.
    public static let queueFull = Self("queueFull")
    public static let timedOut = Self("timedOut")
    /// Cancelled by handle, registry or session; a cancelled Swift task gets `CancellationError` instead.
    public static let cancelled = Self("cancelled")
    public static let unacceptableStatus = Self("unacceptableStatus")
    public static let unacceptableContentType = Self("unacceptableContentType")
    /// The response has no content, and the type that was asked for needs some.
    public static let noContent = Self("noContent")
    /// The content is not what the type that was asked for is made of; `codingPath` says where, and the underlying
    /// `DecodingError` what was expected.
    public static let decodingFailed = Self("decodingFailed")
    /// The content is not what it says it is: text in another charset, a document that breaks its own rules.
    public static let unreadableContent = Self("unreadableContent")
    /// The body cannot be read a second time, or cannot be sent a second time.
    public static let bodyConsumed = Self("bodyConsumed")
    /// The request's body ended short of its declared length or ran past it.
    public static let bodyLengthMismatch = Self("bodyLengthMismatch")
    /// The request's body is a file that cannot be opened or read, or no regular file.
    public static let fileUnreadable = Self("fileUnreadable")
    /// A download's file cannot be made where it should be: `fileFailure` says why.
    public static let fileNotCreated = Self("fileNotCreated")
    /// A file cannot be written, most likely because the disk is full; the underlying error says why.
    public static let fileNotWritten = Self("fileNotWritten")
    /// A download came whole and cannot be moved to its name: `fileFailure` says why, and where the file is.
    public static let fileNotMoved = Self("fileNotMoved")
    /// The content does not have the expected digest.
    public static let digestMismatch = Self("digestMismatch")
    /// The request would have to be sent again with a body that can be sent once.
    public static let bodyNotReplayable = Self("bodyNotReplayable")
    /// More redirects came than the policy follows; `redirects` tells the chain.
    public static let tooManyRedirects = Self("tooManyRedirects")
    /// A redirect led to a request that was answered with a redirect before; `redirects` tells the chain.
    public static let redirectLoop = Self("redirectLoop")
    /// A redirect whose Location is no URL that can be asked.
    public static let invalidRedirect = Self("invalidRedirect")
    /// A redirect from https to http, which the policy does not allow.
    public static let insecureRedirect = Self("insecureRedirect")
    /// The request was sent again too often in all, for several reasons or one: the message counts them.
    public static let sentTooOften = Self("sentTooOften")
    /// The data to resume a download with is damaged, or was never resume data.
    public static let invalidResumeData = Self("invalidResumeData")
    public static let sessionClosed = Self("sessionClosed")
    /// The TLS handshake failed, or TLS was broken afterwards; the underlying `TLSError` says how.
    public static let secureConnectionFailed = Self("secureConnectionFailed")
    /// The server is not trusted; `trustRefusal` says why.
    public static let serverTrustFailed = Self("serverTrustFailed")
    /// A session with pins would have sent something unprotected, or a password would have gone over http by Basic.
    public static let clearTextRefused = Self("clearTextRefused")
    /// Pins cannot protect with this base URL.
    public static let insecurePinningConfiguration = Self("insecurePinningConfiguration")
    /// The credential was refused or has expired, and the authenticator could not get another; the underlying error
    /// says why.
    public static let authenticationFailed = Self("authenticationFailed")
    /// An interceptor threw an error of its own, which is the underlying one, or did what it may not.
    public static let interceptorFailed = Self("interceptorFailed")
    /// A request that may only be answered from the cache, which has nothing for it. Nothing was sent.
    public static let notCached = Self("notCached")
    /// A body that was served from the cache cannot be read to its end: its file is damaged, has gone, or its disk does
    /// not answer. What is stored is removed, so the next request asks the network.
    public static let cacheUnreadable = Self("cacheUnreadable")
    /// The answer to an authentication challenge does not fit it.
    public static let unusableCredential = Self("unusableCredential")
}

extension NetworkError {
    /// How many attempts the request had; 1 if there was only one.
    public var attempts: Int { retries.count + 1 }

    /// Where in a value decoding failed; empty for other errors, and for the value as a whole.
    public var codingPath: [any CodingKey] {
        switch underlying as? DecodingError {
        case .keyNotFound(_, let context), .valueNotFound(_, let context), .typeMismatch(_, let context),
            .dataCorrupted(let context):
            context.codingPath
        default: []
        }
    }
}

extension NetworkError: CustomStringConvertible {
    /// On one line: `GET https://api.test/users/42: 404 Not Found: {"error":"no such user"}`, or for what else may go
    /// wrong its code and reason, where and when it happened, and the cause.
    public var description: String { VisibleText.of((request.map { "\($0): " } ?? "") + text) }

    /// The same without the request: for a table, or a log that names the request anyway.
    public var summary: String { VisibleText.of(text) }

    private var text: String {
        if code == .unacceptableStatus, let status = response?.status {
            let attempt = retries.isEmpty ? "" : " in attempt \(attempts)"
            let beginning = bodyText.map { ": \($0)" } ?? ""
            return "\(status) \(status.phrase)\(attempt)\(beginning)\(noRefresh)\(noRetry)"
        }
        let said = reason.utf8.last == UInt8(ascii: ".") ? String(reason.dropLast()) : reason
        var text = "\(code): \(said)"
        if let place { text += " [\(place)]" }
        if let circumstances { text += " (\(circumstances))" }
        if !retries.isEmpty { text += " in attempt \(attempts)" }
        if let underlying, !isSaid(underlying) { text += ": \(underlying)" }
        return text + noRefresh + noRetry
    }

    /// Who the peer was, as far as the URL does not say so.
    private var place: String? {
        guard let peer, let url = request?.url else { return peer }
        let names = peer.split(separator: " at ", maxSplits: 1)
        let unsaid = names.filter { !url.contains($0) }
        return unsaid.isEmpty ? nil : unsaid.joined(separator: " at ")
    }

    /// What a cause says in the same words is said once, and so is what the reason was made of.
    private func isSaid(_ underlying: any Error) -> Bool {
        isDecoding || code == .serverTrustFailed || reason.contains("\(underlying)")
    }

    private var noRefresh: String {
        refreshRefusal.map { "; no other credential was fetched: \($0.explanation)" } ?? ""
    }

    private var noRetry: String { retryRefusal.map { "; not tried again: \($0.explanation)" } ?? "" }

    /// Its text is in the reason.
    private var isDecoding: Bool { code == .decodingFailed && underlying is DecodingError }

    /// The first 200 characters of a refused body that is text, without what looks like a secret; nil for anything
    /// else, and where it is not to be shown.
    public var bodyText: String? {
        guard showsBody, let body else { return nil }
        return SecretText.beginning(
            of: body, contentType: response?.fields["content-type"], hiding: secretFields)
    }

    /// In which phase, by which limit, after how long; nil if neither of the first two is known.
    private var circumstances: String? {
        let name = phase.map { "phase \($0.rawValue)" }
        let after = elapsed.map { "after \($0.readable)" }
        guard let exceeded else { return name.map { [$0, after].compactMap(\.self).joined(separator: ", ") } }
        let length = limit.map { " of \($0.readable)" } ?? ""
        let excess = ["the \(exceeded.rawValue) limit\(length) exceeded", after].compactMap(\.self)
        return [name, excess.joined(separator: " ")].compactMap(\.self).joined(separator: ", ")
    }
}
