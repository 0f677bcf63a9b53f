package import DunlinInflate
package import DunlinReactor
internal import DunlinTransport
internal import DunlinWire

extension HTTPSession {
    /// What a session starts with. Everything that makes sense for one request can be set there too (`Options`).
    public struct Configuration: Sendable {
        /// Where relative targets lead: an absolute http or https URL without query and fragment. A path that does not
        /// end in a slash is given one, so `v1` and `users` make `v1/users`.
        public var baseURL: String? {
            get { base?.text }
            set { base = newValue.map { AddressText(text: $0) } }
        }
        /// Kept as what no description shows the user info of.
        private var base: AddressText?
        /// A Unix socket to connect to whatever the URL's host says; an abstract name begins with a NUL.
        public var socketPath: String?
        /// Sent with every request that does not set the same fields. An `Accept` other than `*/*` counts before what a
        /// serializer asks for.
        public var fields: Fields {
            didSet { fields.mark(secretFields) }
        }
        public var timeouts: Timeouts
        /// Where parameters go and what they look like there, unless a call says otherwise.
        public var requestSerializer = RequestSerializer.form
        public var connections = Connections()
        /// How many requests may be on the way at once; without a limit they only share connections.
        public var queue = QueueLimits()
        public var nameResolution = NameResolution()
        /// Hosts to connect to elsewhere than where their names say; they count before `socketPath`.
        public var hostOverrides = HostOverrides()
        public var sockets = HTTP.SocketOptions()
        /// Which interfaces connections may go through, of this machine's.
        public var interfaces = NetworkInterface.Rules.any
        /// Whether a request for which there is no network waits for one, within its total time, instead of failing.
        public var waitsForConnectivity = false
        /// What tells of networks: to requests that wait for one, and to listeners if `emitsReachabilityEvents`.
        public var reachability = Reachability.shared
        /// Whether `events` tells what `reachability` says, while anybody listens.
        public var emitsReachabilityEvents = false
        public var limits = Limits()
        /// Which servers are believed, and how connections to them are secured.
        public var tls = TLS()
        /// Asked when a server wants to be believed or to know who we are; before the request's own hook.
        public var authenticationHandler: HTTPSession.AuthenticationHandler?
        /// The fields whose values are secrets: of those this session sends and gets no description shows the value,
        /// and no redirect takes them to another origin.
        public var secretFields = HTTP.SecretFields.usual {
            didSet { fields.mark(secretFields) }
        }
        public var redirects = RedirectPolicy()
        /// Whether requests that failed are tried again.
        public var retry = RetryPolicy.never
        /// Sent to the base URL's origin with every request that says nothing else of who the user is, and to no other.
        /// `fields` may not have an `Authorization` beside them.
        public var credentials: HTTP.Credentials?
        /// What servers want remembered, and told again. None by default: those who share a session must not share who
        /// they are by mistake.
        public var cookies: CookieJar?
        /// Asked before a request's own.
        public var hooks = Hooks()
        /// Told what makes this session less safe, each thing once; at once for what the configuration says.
        public var securityWarningHandler: (@Sendable (HTTPSession.SecurityWarning) -> Void)?
        /// Looks names up; the system's look-up if none is given.
        public var resolver: (any Resolver)?
        /// Carries requests in the sockets' stead: tests, above all.
        public var transport: (any Transport)?
        /// Random numbers for what is left to chance, such as waits; the system's if none are given. Asked on a loop,
        /// so it must not wait.
        public var random: (@Sendable () -> UInt64)?
        /// The content codings that are asked for, where `fields` say what those before would say, and taken off.
        package var codecs = ContentCodecs.known {
            didSet {
                guard fields["Accept-Encoding"] == oldValue.accepted else { return }
                fields["Accept-Encoding"] = codecs.accepted
            }
        }
        /// Loops of its own instead of the process's.
        package var loops: [Reactor]?
        /// What the loops belong to, kept while a session uses them.
        package var loopOwner: (any Sendable)?

        /// Who we are, that we take anything, in which codings, and in which languages if the environment names any
        /// (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`). Found out once.
        public static let defaultFields: Fields = {
            var fields: Fields = ["User-Agent": userAgent(), "Accept": "*/*"]
            fields["Accept-Encoding"] = ContentCodecs.known.accepted
            fields["Accept-Language"] = ClientFields.acceptLanguage
            return fields
        }()

        /// `program/version (Linux 6.8.0; x86_64)`, by default of the process's name and version 0.
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
        /// Open at once to one origin; more requests wait, by priority and then first come, first served.
        public var perOrigin = 128
        /// Open at once to all origins together. At this number an unused connection to another origin is closed to
        /// make room, the one unused for longest first; if all are in use, requests wait.
        public var total = 1024
        /// How many requests may wait for a connection; the next fails at once, with `NetworkError` code
        /// `poolExhausted`.
        public var maximumWaiting = 10_000
        /// How long an unused connection is kept; shorter if the server says so (`Keep-Alive: timeout`).
        public var idleTime: Duration = .seconds(60)
        /// How long after its opening a connection takes requests; `nil` for no limit.
        public var maximumAge: Duration?
        /// How many requests a connection takes; `nil` for no limit.
        public var maximumUses: Int?

        public init() {}
    }

    /// What a response may take up.
    public struct Limits: Sendable, Hashable {
        /// A body read as a whole; `nil` for no limit. A streamed body has none.
        public var maximumBodySize: Int? = 64 * 1024 * 1024
        /// What a coded body may decode to, streamed or not; `nil` for no limit.
        public var decodedBytes: Int? = 256 * 1024 * 1024
        /// How many times its size on the wire a coded body may decode to (after the first MiB); `nil` for no limit.
        public var decodingRatio: Int? = 500
        /// One head, status line and all.
        public var headBytes = 128 * 1024
        public var lineBytes = 16 * 1024
        /// Fields of one head: a thousand of the server's own, and those that every response has.
        public var fieldCount = 1024
        public var interimResponses = 16
        public var trailerBytes = 16 * 1024
        /// How much of a response's body an error carries, if that was refused or did not come to its end.
        public var maximumErrorBodySize = NetworkError.keptBody

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

    /// Throws what contradicts itself, before the first request does.
    func validate() throws {
        func require(_ condition: Bool, _ reason: String) throws {
            guard condition else { throw NetworkError(.invalidConfiguration, reason) }
        }
        try require(connections.perOrigin > 0, "connections.perOrigin must be at least 1")
        try require(connections.total > 0, "connections.total must be at least 1")
        try require(connections.maximumWaiting >= 0, "connections.maximumWaiting must not be negative")
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
        if let problem = sockets.problem { try require(false, "sockets.\(problem)") }
        try require(limits.maximumBodySize.map { $0 >= 0 } ?? true, "limits.maximumBodySize must not be negative")
        try require(redirects.limit >= 0, "redirects.limit must not be negative")
        if let problem = retry.problem { try require(false, "retry: \(problem)") }
        try require(credentials == nil || baseURL != nil, "credentials go to the base URL's origin, and there is none")
        try ClearTextRule.check(tls.policy, baseURL: baseURL)
        try require(loops?.isEmpty != true, "there must be at least one loop")
        for phase in HTTP.Phase.allCases {
            try require(timeouts[phase].map { $0 > .zero } ?? true, "the \(phase.rawValue) timeout must be above zero")
        }
    }
}
