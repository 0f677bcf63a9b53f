package import DunlinInflate
package import DunlinReactor
internal import DunlinTransport
internal import DunlinWire
internal import FoundationEssentials

extension HTTPSession {
    /// The settings of a session. What makes sense for one request alone can be set there too (`Options`).
    public struct Configuration: Sendable {
        /// The URL that relative targets are resolved against: an absolute http or https URL without query and
        /// fragment. A slash is added to a path that does not end in one, so `v1` and `users` make `v1/users`.
        public var baseURL: String? {
            get { base?.text }
            set { base = newValue.map { AddressText(text: $0) } }
        }
        /// Of a type whose description does not show the user info.
        private var base: AddressText?
        /// A Unix socket to connect to whatever the URL's host says; an abstract name begins with a NUL.
        public var socketPath: String?
        /// Sent with every request that does not set the same fields. An `Accept` other than `*/*` counts before what a
        /// serializer asks for.
        public var fields: Fields {
            didSet { fields.mark(secretFields) }
        }
        public var timeouts: Timeouts
        /// How parameters are written, and where in a request, unless a call says otherwise.
        public var requestSerializer = RequestSerializer.form
        /// How JSON is read, and written by `json:`, unless a call says otherwise: `.snakeCase.iso8601`.
        public var json = HTTP.JSON.standard
        /// Content types that every serializer accepts beside those it expects: `["text/html"]` for a server that
        /// declares its JSON so.
        public var acceptedContentTypes: HTTP.ContentTypes = []
        /// Statuses that every serializer accepts beside those it expects, which are 2xx for most.
        public var acceptedStatuses = HTTP.StatusSet.none
        public var connections = Connections()
        /// How many requests may be on their way at once; without a limit they share connections only.
        public var queue = QueueLimits()
        public var nameResolution = NameResolution()
        /// Addresses to connect to instead of those that hosts' names stand for; they override `socketPath`.
        public var hostOverrides = HostOverrides()
        public var sockets = HTTP.SocketOptions()
        /// The interfaces of this machine that connections may go through.
        public var interfaces = NetworkInterface.Rules.any
        /// The proxy that requests go through: by default the one that the environment's variables name, if they do.
        public var proxy = Proxy.environment
        /// Where requests may go, judged on the addresses that are connected to; nil for anywhere.
        public var `guard`: Guard?
        /// Whether a request waits for a network if there is none, up to its total time, instead of failing.
        public var waitsForConnectivity = false
        /// The source of what is known of networks: for requests that wait for one, and for `events` if
        /// `emitsReachabilityEvents`.
        public var reachability = Reachability.shared
        /// Whether `events` tells the status of `reachability`, while it has observers.
        public var emitsReachabilityEvents = false
        public var limits = Limits()
        /// Which servers are trusted, and how connections to them are secured.
        public var tls = TLS()
        /// How a proxy is spoken to whose URL begins with `https`, and which certificates of proxies are trusted. What
        /// `tls` and the authentication handler say is for origins alone.
        public var proxyTLS = TLS()
        /// Asked when a server is to be trusted, asks for our identity or says 401; after the request's own handler.
        public var authenticationHandler: HTTPSession.AuthenticationHandler?
        /// The fields whose values are secrets. No description of a request or response shows these values, and no
        /// redirect takes them to another origin.
        public var secretFields = HTTP.SecretFields.usual {
            didSet { fields.mark(secretFields) }
        }
        /// Whether the description of an error that refuses a response shows the beginning of its body, if it is text:
        /// 200 characters, without what looks like a secret.
        public var showsRefusedBodies = true
        public var redirects = RedirectPolicy()
        /// Whether and when a request that failed has another attempt.
        public var retry = RetryPolicy.never
        /// Credentials for the base URL's origin, and for no other: for every request that has none of its own.
        /// `fields` may not have an `Authorization` beside them.
        public var credentials: HTTP.Credentials?
        /// Whether passwords go over http by Basic, for everybody on the way to read.
        public var basicInClearText = BasicInClearText.whereChosen
        /// Puts a credential on the requests to the base URL's origin, and gets a new one when it is refused; in place
        /// of `credentials`.
        public var authentication: Authentication?
        /// Fields for the base URL's origin, and for no other, such as a service's key: they replace `fields` of their
        /// names, and no redirect takes them to another origin.
        public var originFields = Fields() {
            didSet { originFields.markAll() }
        }
        /// Stand around the session's requests: around each call, or around each exchange.
        public var interceptors: [Interception] = []
        /// Keeps the cookies that servers set, and sends them back. Nil by default, so that users who share a session
        /// do not share an identity by mistake.
        public var cookies: CookieJar?
        /// Stores responses, and serves them again. Nil by default: nothing is stored.
        public var cache: Cache?
        /// A name of the session's user, for what a cache stores where nothing that is sent says who that is: where
        /// `authentication`, an `authenticationHandler` or interceptors around exchanges do. Sessions that have the
        /// same name are taken for the same user's, with handlers that trust the same servers and a `resolver` or
        /// `transport` that lead to the same, now and after a restart of the program. Nil by default: then such
        /// responses are for the session alone that asked for them, or for those with the same resolver or transport.
        public var user: String?
        /// How requests use the cache that do not say so themselves.
        public var cacheMode = CacheMode.standard
        /// Whether identical requests under way are sent as one.
        public var coalescing = Coalescing()
        /// Hooks for every request; they are asked after the request's own.
        public var hooks = Hooks()
        /// Told what makes this session less safe: each warning once, those of the configuration at once.
        public var securityWarningHandler: (@Sendable (HTTPSession.SecurityWarning) -> Void)?
        /// Looks up names; nil for the system's look-up.
        public var resolver: (any Resolver)?
        /// Carries requests instead of the session's own sockets; above all for tests.
        public var transport: (any Transport)?
        /// Random numbers for what is left to chance, such as waits; nil for the system's. Called on a loop, so it must
        /// not block.
        public var random: (@Sendable () -> UInt64)?
        /// The content codings that are taken off, and asked for: `Accept-Encoding` in `fields` changes with them,
        /// unless it was set otherwise.
        package var codecs = ContentCodecs.known {
            didSet {
                guard fields["Accept-Encoding"] == oldValue.accepted else { return }
                fields["Accept-Encoding"] = codecs.accepted
            }
        }
        /// Variables in the place of the process's.
        package var environment: [String: String]?
        /// Loops for this session alone, instead of the process's.
        package var loops: [Reactor]?
        /// The owner of these loops, kept while a session uses them.
        package var loopOwner: (any Sendable)?

        /// The default fields: `User-Agent`, `Accept` (anything), `Accept-Encoding`, and `Accept-Language` if the
        /// environment names languages (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`). Computed once.
        public static let defaultFields: Fields = {
            var fields: Fields = ["User-Agent": userAgent(), "Accept": "*/*"]
            fields["Accept-Encoding"] = ContentCodecs.known.accepted
            fields["Accept-Language"] = ClientFields.acceptLanguage
            return fields
        }()

        /// `program/version (Linux 6.8.0; x86_64)`; by default the process's name and version 0.
        public static func userAgent(program: String? = nil, version: String? = nil) -> String {
            ClientFields.userAgent(process: program, version: version)
        }

        public init(
            baseURL: String? = nil, fields: Fields = Configuration.defaultFields,
            timeouts: Timeouts = Timeouts(), retry: RetryPolicy = .never, transport: (any Transport)? = nil
        ) {
            base = baseURL.map { AddressText(text: $0) }
            self.fields = fields
            self.timeouts = timeouts
            self.retry = retry
            self.transport = transport
        }
    }

    public struct Connections: Sendable, Hashable {
        /// How many connections may be open at once to one origin. Further requests wait, by priority and then in order
        /// of arrival.
        public var perOrigin = 128
        /// How many connections may be open at once to all origins together. At this number an idle connection to
        /// another origin is closed to make room, the one idle for longest first; if all are in use, requests wait.
        public var total = 1024
        /// How many requests may wait for a connection; the next fails at once, with `NetworkError` code
        /// `poolExhausted`.
        public var maximumWaiting = 10_000
        /// How long an idle connection is kept; shorter if the server says so (`Keep-Alive: timeout`).
        public var idleTime: Duration = .seconds(60)
        /// For how long after its opening a connection takes requests; `nil` for no limit.
        public var maximumAge: Duration?
        /// How many requests a connection takes; `nil` for no limit.
        public var maximumUses: Int?

        public init() {}
    }

    /// How large the parts of a response may be.
    public struct Limits: Sendable, Hashable {
        /// Bytes of a body that is read as a whole; `nil` for no limit. A streamed body has none.
        public var bodyBytes: Int? = 64 * 1024 * 1024
        /// Bytes that a coded body may decode to, streamed or not; `nil` for no limit.
        public var decodedBytes: Int? = 256 * 1024 * 1024
        /// How many times its size on the wire a coded body may decode to (after the first MiB); `nil` for no limit.
        public var decodingRatio: Int? = 500
        /// Bytes of one head, with its status line.
        public var headBytes = 128 * 1024
        public var lineBytes = 16 * 1024
        /// Fields of one head: a thousand of the server's own, and some that every response has.
        public var fieldCount = 1024
        public var interimResponses = 16
        public var trailerBytes = 16 * 1024
        /// Bytes of a response's body that an error carries, if the response was refused or broke off.
        public var errorBodyBytes = NetworkError.keptBody
        /// How often a request may be sent again, for all reasons together: retries, redirects, challenges, refreshed
        /// credentials, lost connections. A redirect limit above 20 and each retry that is allowed add to it. A
        /// download counts from its last progress. Beyond it a request fails with `NetworkError` code `sentTooOften`.
        public var resends = 100

        public init() {}
    }
}

extension HTTPSession.Configuration {
    var socketOptions: SocketTransport.Options {
        var options = SocketTransport.Options()
        options.connectionsPerOrigin = connections.perOrigin
        options.connections = connections.total
        options.waiters = connections.maximumWaiting
        options.idleTime = connections.idleTime
        options.age = connections.maximumAge
        options.uses = connections.maximumUses
        options.limits.headBytes = limits.headBytes
        options.limits.lineBytes = limits.lineBytes
        options.limits.fieldCount = limits.fieldCount
        options.limits.interimResponses = limits.interimResponses
        options.limits.trailerBytes = limits.trailerBytes
        if let resolver { options.resolver = resolver }
        options.nameLife = nameResolution.timeToLive ?? .zero
        options.missingNameLife = nameResolution.negativeTimeToLive ?? .zero
        options.nameCapacity = nameResolution.capacity
        options.lookUpTime = timeouts.resolve
        options.connectionAttemptDelay = nameResolution.connectionAttemptDelay
        options.rotatesAddresses = nameResolution.order == .rotating
        options.sockets = sockets
        options.interfaces = interfaces
        return options
    }

    /// Nil if connections are made as usual. Over a transport of one's own no proxy is asked.
    func connectionRules() throws -> ConnectionRules? {
        let chooser = try transport == nil ? proxy.chooser(variables, .invalidConfiguration) : nil
        if `guard` == nil, chooser == nil { return nil }
        return ConnectionRules(`guard`?.enforcedRules, chooser)
    }

    private var variables: [String: String] { environment ?? ProcessInfo.processInfo.environment }

    /// Throws for settings that contradict each other, before the first request does.
    func validate() throws {
        func require(_ condition: Bool, _ reason: String) throws {
            guard condition else { throw NetworkError(.invalidConfiguration, reason) }
        }
        try require(connections.perOrigin > 0, "connections.perOrigin must be at least 1")
        try require(connections.total > 0, "connections.total must be at least 1")
        try require(connections.maximumWaiting >= 0, "connections.maximumWaiting must not be negative")
        try require(coalescing.largestBody >= 0, "coalescing.largestBody must not be negative")
        try require(queue.running.map { $0 > 0 } ?? true, "queue.running must be at least 1")
        try require(queue.runningPerHost.map { $0 > 0 } ?? true, "queue.runningPerHost must be at least 1")
        try require(queue.maximumWaiting >= 0, "queue.maximumWaiting must not be negative")
        try require(connections.maximumAge.map { $0 > .zero } ?? true, "connections.maximumAge must be above zero")
        try require(connections.maximumUses.map { $0 > 0 } ?? true, "connections.maximumUses must be at least 1")
        try require(connections.idleTime >= .zero, "connections.idleTime must not be negative")
        try require(nameResolution.timeToLive ?? .zero >= .zero, "nameResolution.timeToLive must not be negative")
        try require(
            nameResolution.negativeTimeToLive ?? .zero >= .zero,
            "nameResolution.negativeTimeToLive must not be negative")
        try require(nameResolution.capacity >= 0, "nameResolution.capacity must not be negative")
        try require(
            nameResolution.connectionAttemptDelay >= .milliseconds(10),
            "nameResolution.connectionAttemptDelay must be at least 10 ms")
        if let problem = `guard`?.problem { try require(false, "\(problem)") }
        if let problem = sockets.problem { try require(false, "sockets.\(problem)") }
        try require(limits.bodyBytes.map { $0 >= 0 } ?? true, "limits.bodyBytes must not be negative")
        try require(limits.resends >= 0, "limits.resends must not be negative")
        try require(redirects.limit >= 0, "redirects.limit must not be negative")
        if let problem = retry.problem { try require(false, "retry: \(problem)") }
        try ClearTextRule.check(tls.policy, baseURL: baseURL)
        try require(loops?.isEmpty != true, "there must be at least one loop")
        for limit in Timeouts.Limit.allCases {
            try require(timeouts[limit].map { $0 > .zero } ?? true, "the \(limit.rawValue) timeout must be above zero")
        }
    }
}
