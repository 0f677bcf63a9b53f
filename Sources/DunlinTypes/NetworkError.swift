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
    /// The request that failed; nil for an error that concerns none.
    public var request: RequestName?
    /// The phase that the request was in, whichever limit it exceeded; nil if it was in none.
    public var phase: HTTP.Phase?
    /// For a timeout, the limit that was exceeded: the phase's own, or that of the whole request. Nil for one
    /// that is not in ``Timeouts``, such as that of a refresh; the message names it.
    public var exceeded: Timeouts.Limit?
    /// Whether a byte of the request may have reached the peer.
    public var requestMayHaveBeenSent: Bool
    /// Whether sending the same request again cannot do its work twice.
    public var isSafeToRetry: Bool
    /// Whether the connection had served other requests: the peer may just have been closing it.
    public var connectionWasReused = false
    /// The duration of the exceeded limit; nil if it is not known.
    public var limit: Duration?
    public var elapsed: Duration?
    /// The peer involved: an origin or an address.
    public var peer: String?
    /// A sentence for a person, on one line.
    public var reason: String
    public var underlying: (any Error)?
    /// The response; nil if its head had not come.
    public var response: ResponseHead?
    /// The beginning of the response's body, up to a limit, if the response was refused or broke off.
    public var body: Bytes? {
        didSet { message = nil }
    }
    /// Whether the description shows what the server says in the body (`bodyText`).
    public var showsBody = true
    /// How the last hop spent its time.
    public var hop: HTTP.Hop?
    /// The earlier attempts, if a retry policy sent the request again.
    public var retries: [NetworkError.RetriedAttempt] = []
    /// Why the request was not retried; nil if the policy does not cover this failure.
    public var retryRefusal: NetworkError.RetryRefusal?
    /// Why the credential was not refreshed, if an authenticator's was refused.
    public var refreshRefusal: NetworkError.RefreshRefusal?
    /// Whether the user's code chose to end the request with it: then nothing is sent again, whatever the code says.
    package var isDecided = false
    /// What the request left behind, such as resume data.
    package var leftover: (any Sendable)?
    /// The request as a command's source; nil for an error that concerns none.
    package var command: (any CommandSource)?
    /// What the body says to people; known once the error leaves its session.
    package var message: String?

    public init(
        _ code: Code, _ reason: String, phase: HTTP.Phase? = nil, requestMayHaveBeenSent: Bool = false,
        isSafeToRetry: Bool = false, exceeding exceeded: Timeouts.Limit? = nil, limit: Duration? = nil,
        elapsed: Duration? = nil, peer: String? = nil, underlying: (any Error)? = nil, response: ResponseHead? = nil,
        body: Bytes? = nil
    ) {
        self.code = code
        // The reason may contain a server's text.
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
    /// The request cannot be written: its method, target or a field is malformed, or the target is not a URL.
    public static let invalidRequest = Self("invalidRequest")
    /// The parameters cannot be written in the chosen format.
    public static let invalidParameters = Self("invalidParameters")
    /// A part of a multipart form cannot be sent: its file is missing, or one of its fields is malformed.
    public static let invalidPart = Self("invalidPart")
    /// The URL's scheme is not one that Dunlin supports.
    public static let unsupportedScheme = Self("unsupportedScheme")
    /// The configuration contradicts itself.
    public static let invalidConfiguration = Self("invalidConfiguration")
    public static let nameNotResolved = Self("nameNotResolved")
    public static let connectionFailed = Self("connectionFailed")
    /// There are routes to the host, but only through interfaces that the rules refuse; the underlying
    /// `NetworkError.InterfaceRefusal` names them.
    public static let interfaceRefused = Self("interfaceRefused")
    /// The guard forbids the request's destination; the reason says what was refused and why.
    public static let guardRefused = Self("guardRefused")
    /// The proxy made no tunnel to the origin: it refused, closed the connection, or broke its protocol. The response,
    /// if any, is the proxy's.
    public static let proxyFailed = Self("proxyFailed")
    /// The proxy requires credentials that the session has not, or refused those it has. The response is the proxy's.
    public static let proxyAuthenticationFailed = Self("proxyAuthenticationFailed")
    /// The peer closed the connection before the response was complete.
    public static let connectionClosed = Self("connectionClosed")
    /// The peer broke the rules of HTTP.
    public static let invalidResponse = Self("invalidResponse")
    /// The server answered the request for another protocol with a response of HTTP, which the error carries.
    public static let upgradeRefused = Self("upgradeRefused")
    /// The peer of a WebSocket broke its rules; the underlying `HTTP.WebSocketError` says which.
    public static let webSocketFailed = Self("webSocketFailed")
    /// The server sent an event of a name that the caller takes for an error (`EventSettings.errorNames`). The body is
    /// the event's data.
    public static let errorEvent = Self("errorEvent")
    /// The content does not match its content coding.
    public static let invalidContent = Self("invalidContent")
    /// The response exceeded one of the session's limits.
    public static let limitExceeded = Self("limitExceeded")
    /// More requests wait for a connection than the session allows.
    public static let poolExhausted = Self("poolExhausted")
    /// More requests wait for their turn than the session's queue allows.
    public static let queueFull = Self("queueFull")
    /// A limit of rate would let the request pass only later than it may wait (DunlinResilience).
    public static let rateLimited = Self("rateLimited")
    /// A circuit breaker lets no request pass to a server that has failed too often (DunlinResilience).
    public static let circuitOpen = Self("circuitOpen")
    public static let timedOut = Self("timedOut")
    /// The request was cancelled by handle, registry or session. A cancelled Swift task gets `CancellationError`
    /// instead.
    public static let cancelled = Self("cancelled")
    public static let unacceptableStatus = Self("unacceptableStatus")
    public static let unacceptableContentType = Self("unacceptableContentType")
    /// The response has no content, and the requested type needs some.
    public static let noContent = Self("noContent")
    /// The content cannot be decoded as the requested type; `codingPath` says where, and the underlying `DecodingError`
    /// what was expected.
    public static let decodingFailed = Self("decodingFailed")
    /// The content contradicts its declared format: text in another charset, or a malformed document.
    public static let unreadableContent = Self("unreadableContent")
    /// A body that can be read or sent once was to be read or sent again.
    public static let bodyConsumed = Self("bodyConsumed")
    /// The request's body was shorter or longer than its declared length.
    public static let bodyLengthMismatch = Self("bodyLengthMismatch")
    /// The request's body is a file that cannot be opened or read, or is not a regular file.
    public static let fileUnreadable = Self("fileUnreadable")
    /// A download's file cannot be created at its place; `fileFailure` says why.
    public static let fileNotCreated = Self("fileNotCreated")
    /// A file cannot be written, most likely because the disk is full; the underlying error says why.
    public static let fileNotWritten = Self("fileNotWritten")
    /// A complete download cannot be moved to its name; `fileFailure` says why, and where the file is.
    public static let fileNotMoved = Self("fileNotMoved")
    /// The content does not have the expected digest.
    public static let digestMismatch = Self("digestMismatch")
    /// The request would have to be sent again, but its body can be sent only once.
    public static let bodyNotReplayable = Self("bodyNotReplayable")
    /// There were more redirects than the policy allows; `redirects` lists them.
    public static let tooManyRedirects = Self("tooManyRedirects")
    /// A redirect led back to a request that had already been redirected; `redirects` lists the chain.
    public static let redirectLoop = Self("redirectLoop")
    /// The Location of a redirect is not a usable URL.
    public static let invalidRedirect = Self("invalidRedirect")
    /// The policy does not allow a redirect from https to http.
    public static let insecureRedirect = Self("insecureRedirect")
    /// The request was sent again too often in all, for one reason or several; the message counts them.
    public static let sentTooOften = Self("sentTooOften")
    /// The data to resume a download with is damaged or is not resume data.
    public static let invalidResumeData = Self("invalidResumeData")
    public static let sessionShutDown = Self("sessionShutDown")
    /// The TLS handshake failed, or TLS failed afterwards; the underlying `TLSError` says how.
    public static let secureConnectionFailed = Self("secureConnectionFailed")
    /// The server is not trusted; `trustRefusal` says why.
    public static let serverTrustFailed = Self("serverTrustFailed")
    /// A session with pins would have sent something in clear text, or a password would have been sent by Basic over
    /// http.
    public static let clearTextRefused = Self("clearTextRefused")
    /// The pins cannot protect this base URL.
    public static let insecurePinningConfiguration = Self("insecurePinningConfiguration")
    /// The credential was refused or has expired, and the authenticator could not get another; the underlying error
    /// says why.
    public static let authenticationFailed = Self("authenticationFailed")
    /// An interceptor threw an error, which is the underlying one, or did something that it may not.
    public static let interceptorFailed = Self("interceptorFailed")
    /// The request may be answered only from the cache, which has no response for it. Nothing was sent.
    public static let notCached = Self("notCached")
    /// A body served from the cache cannot be read to its end: its file is damaged or gone, or the disk does not
    /// answer. The entry is removed, so the next request asks the network.
    public static let cacheUnreadable = Self("cacheUnreadable")
    /// The answer to an authentication challenge does not fit the challenge.
    public static let unusableCredential = Self("unusableCredential")
}

extension NetworkError {
    /// The number of attempts, at least 1.
    public var attempts: Int { retries.count + 1 }

    /// Where decoding failed within the value; empty for other errors, and for the value as a whole.
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
    /// The error on one line, such as `GET https://api.test/users/42: 404 Not Found: {"error":"no such user"}`. Other
    /// failures show code and reason, phase and time, and the cause.
    public var description: String { VisibleText.of((request.map { "\($0): " } ?? "") + text) }

    /// The description without the request, for a table or a log that names the request anyway.
    public var summary: String { VisibleText.of(text) }

    private var text: String {
        if code == .unacceptableStatus, let status = response?.status {
            let attempt = retries.isEmpty ? "" : " in attempt \(attempts)"
            return "\(status) \(status.phrase)\(attempt)\(saidMessage)\(noRefresh)\(noRetry)"
        }
        let said = reason.utf8.last == UInt8(ascii: ".") ? String(reason.dropLast()) : reason
        var text = "\(code): \(said)"
        text += saidMessage
        if let unsaidPeer { text += " [\(unsaidPeer)]" }
        if let circumstances { text += " (\(circumstances))" }
        if !retries.isEmpty { text += " in attempt \(attempts)" }
        if let underlying, !isSaid(underlying) { text += ": \(underlying)" }
        return text + noRefresh + noRetry
    }

    /// The peer, unless the URL already says it.
    private var unsaidPeer: String? {
        guard let peer, let url = request?.url else { return peer }
        let names = peer.split(separator: " at ", maxSplits: 1)
        let unsaid = names.filter { !url.contains($0) }
        return unsaid.isEmpty ? nil : unsaid.joined(separator: " at ")
    }

    /// Whether the text already contains what the cause says, so that it is not repeated.
    private func isSaid(_ underlying: any Error) -> Bool {
        isDecoding || code == .serverTrustFailed || reason.contains("\(underlying)")
    }

    private var noRefresh: String {
        refreshRefusal.map { "; no further credential was fetched: \($0.explanation)" } ?? ""
    }

    private var noRetry: String { retryRefusal.map { "; not tried again: \($0.explanation)" } ?? "" }

    /// Whether the reason already contains the underlying error's text.
    private var isDecoding: Bool { code == .decodingFailed && underlying is DecodingError }

    /// What the server says to people, on one line of up to 200 characters: those of the members `title`, `detail`,
    /// `message`, `error` and `error_description` that are text, if the body is a JSON object (RFC 9457, RFC 6749).
    /// Stars hide what has the form of a key or a token. Nil for any other body, one that was cut, an error that is no
    /// refusal, if it is not to be shown, and before the session has thrown the error.
    public var bodyText: String? { showsBody ? message : nil }

    /// The codes of a response that may say to people why it is a refusal.
    package static let refusals: Set<Code> = [
        .unacceptableStatus, .upgradeRefused, .proxyFailed, .proxyAuthenticationFailed, .errorEvent,
    ]

    private var saidMessage: String { bodyText.map { ": \($0)" } ?? "" }

    /// The phase, the limit and its duration; nil if neither phase nor limit is known.
    private var circumstances: String? {
        let name = phase.map { "phase \($0.rawValue)" }
        let after = elapsed.map { "after \($0.readable)" }
        guard let exceeded else { return name.map { [$0, after].compactMap(\.self).joined(separator: ", ") } }
        let length = limit.map { " of \($0.readable)" } ?? ""
        let excess = ["the \(exceeded.rawValue) limit\(length) exceeded", after].compactMap(\.self)
        return [name, excess.joined(separator: " ")].compactMap(\.self).joined(separator: ", ")
    }
}
