package import DunlinInflate
package import DunlinReactor
internal import DunlinTransport
internal import DunlinWire
internal import FoundationEssentials

extension HTTPSession {
    /// The settings of a session. Those that make sense for a single request can also be set for it (`Options`).
    public struct Configuration: Sendable {
        /// The URL that relative targets are resolved against: an absolute http or https URL without query and
        /// fragment. A slash is added to a path without one at its end, so `v1` and `users` make `v1/users`.
        public var baseURL: String? {
            get { base?.text }
            set { base = newValue.map { AddressText(text: $0) } }
        }
        /// The base URL, in a type whose description hides user info.
        private var base: AddressText?
        /// The path of a Unix socket to connect to, whatever the URL's host; an abstract name begins with NUL.
        public var socketPath: String?
        /// The fields sent with every request that does not set the same fields. An `Accept` other than `*/*` overrides
        /// what a serializer asks for.
        public var fields: Fields {
            didSet { fields.mark(secretFields) }
        }
        public var timeouts: Timeouts
        /// How parameters are written and where they go, unless a call says otherwise.
        public var requestSerializer = RequestSerializer.form
        /// How JSON is read, and written by `json:`, unless a call says otherwise: `.snakeCase.iso8601`.
        public var json = HTTP.JSON.standard
        /// The content types that every serializer accepts in addition to its own: `["text/html"]` for a server that
        /// declares its JSON so.
        public var acceptedContentTypes: HTTP.ContentTypes = []
        /// The statuses that every serializer accepts in addition to its own, which are usually 2xx.
        public var acceptedStatuses = HTTP.StatusSet.none
        public var connections = Connections()
        /// The limits for how many requests run at once. Without limits, they only share connections.
        public var queue = QueueLimits()
        public var nameResolution = NameResolution()
        /// Addresses to connect to for certain hosts instead of their own. They override `socketPath`.
        public var hostOverrides = HostOverrides()
        public var sockets = HTTP.SocketOptions()
        /// The interfaces of this machine that connections may go through.
        public var interfaces = NetworkInterface.Rules.any
        /// The proxy for requests; by default the one that environment variables name, if any.
        public var proxy = Proxy.environment
        /// The guard that limits where requests may go, by the addresses that are connected to; nil for no limits.
        public var `guard`: Guard?
        /// What lets exchanges pass, of a product beside the core; nil if all pass.
        package var gate: (any Gate)?
        /// Whether a request without a network waits for one, up to its total time, instead of failing.
        public var waitsForConnectivity = false
        /// The source for network status, used by requests that wait for a network, and for `events` if
        /// `emitsReachabilityEvents` is set.
        public var reachability = Reachability.shared
        /// Whether `events` reports the status of `reachability` while it has observers.
        public var emitsReachabilityEvents = false
        public var limits = Limits()
        /// Which servers are trusted, and how connections to them are secured.
        public var tls = TLS()
        /// How connections to a proxy with an `https` URL are secured, and which proxies' certificates are trusted.
        /// `tls` and the authentication handler apply only to origins.
        public var proxyTLS = TLS()
        /// Called to decide whether to trust a server, when a server asks for our identity, and for a 401; after the
        /// request's own handler.
        public var authenticationHandler: HTTPSession.AuthenticationHandler?
        /// The names of fields whose values are secret. No description of a request or response shows these values, and
        /// no redirect takes them to another origin.
        public var secretFields = HTTP.SecretFields.usual {
            didSet { fields.mark(secretFields) }
        }
        /// Whether the description of an error that refused a response shows what its body says to people
        /// (`NetworkError.bodyText`).
        public var showsRefusedBodies = true
        public var redirects = RedirectPolicy()
        /// Whether and when a failed request is attempted again.
        public var retry = RetryPolicy.never
        /// The credentials for the base URL's origin only, for every request without its own. `fields` must then not
        /// have an `Authorization`.
        public var credentials: HTTP.Credentials?
        /// Whether passwords are sent by Basic over http, readable for everybody on the way.
        public var basicInClearText = BasicInClearText.whereChosen
        /// Puts a credential on requests to the base URL's origin and refreshes it when it is refused, instead of
        /// `credentials`.
        public var authentication: Authentication?
        /// The fields for the base URL's origin only, such as a service's key. They replace `fields` with the same
        /// names, and no redirect takes them to another origin.
        public var originFields = Fields() {
            didSet { originFields.markAll() }
        }
        /// The interceptors around the session's calls or exchanges.
        public var interceptors: [Interception] = []
        /// What is told of each request, exchange and closed connection, in order, for logs, metrics and traces.
        public var observers: [any Observer] = []
        /// The jar that stores cookies and sends them back. Nil by default, so that users who share a session do not
        /// share an identity by mistake.
        public var cookies: CookieJar?
        /// The cache that stores responses and serves them again. Nil by default: nothing is stored.
        public var cache: Cache?
        /// A name of the session's user, for the cache and for resumed downloads, if the user cannot be told from what
        /// is sent: if cookies of a jar, `authentication`, an `authenticationHandler` or interceptors around exchanges
        /// identify the user. Sessions with the same name count as the same user's, with handlers that trust the same
        /// servers and a `resolver` or `transport` that lead to the same ones, now and after a restart of the program.
        /// Nil by default: such responses are then only for the session that requested them, or for sessions with the
        /// same jar, resolver or transport.
        public var userID: String?
        /// The use of the cache for requests that do not set their own.
        public var cacheMode = CacheMode.standard
        /// Whether identical simultaneous requests are sent as one.
        public var coalescing = Coalescing()
        /// Hooks for every request, called after the request's own.
        public var hooks = Hooks()
        /// Called with what makes this session less secure: each warning once, and those about the configuration at
        /// once.
        public var securityWarningHandler: (@Sendable (HTTPSession.SecurityWarning) -> Void)?
        /// Looks up names; nil for the system's look-up.
        public var resolver: (any Resolver)?
        /// Sends requests instead of the session's own sockets, mainly for tests.
        public var transport: (any Transport)?
        /// Random numbers for random choices such as waits; nil for the system's. Called on a loop, so it must not
        /// block.
        public var random: (@Sendable () -> UInt64)?
        /// The content codings that are requested and removed. `Accept-Encoding` in `fields` changes with them, unless
        /// it was set otherwise.
        package var codecs = ContentCodecs.known {
            didSet {
                guard fields["Accept-Encoding"] == oldValue.accepted else { return }
                fields["Accept-Encoding"] = codecs.accepted
            }
        }
        /// Environment variables to use instead of the process's.
        package var environment: [String: String]?
        /// Loops for this session only, instead of the process's.
        package var loops: [Reactor]?
        /// The owner of these loops, retained while a session uses them.
        package var loopOwner: (any Sendable)?

        /// The default fields: `User-Agent`, `Accept` (anything), `Accept-Encoding`, and `Accept-Language` if the
        /// environment names languages (`LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`). Computed once.
        public static let defaultFields: Fields = {
            var fields: Fields = ["User-Agent": userAgent(), "Accept": "*/*"]
            fields["Accept-Encoding"] = ContentCodecs.known.accepted
            fields["Accept-Language"] = ClientFields.acceptLanguage
            return fields
        }()

        /// Returns `program/version (Linux 6.8.0; x86_64)`; the defaults are the process's name and version 0.
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
        /// The number of connections that may be open at once to one origin. Further requests wait, by priority and
        /// then in order of arrival. A request that another waits for, such as an authentication handler's, does not
        /// wait for that one: it may use a connection beyond this limit and `total`, of which there are as many again,
        /// but at least 32.
        public var perOrigin = 128
        /// The number of connections that may be open at once to all origins. At the limit, the longest-idle connection
        /// to another origin is closed to make room; if all are in use, requests wait.
        public var total = 1024
        /// The number of requests that may wait for a connection. One more fails at once with `NetworkError` code
        /// `poolExhausted`.
        public var maximumWaiting = 10_000
        /// How long an idle connection stays open; less if the server says so (`Keep-Alive: timeout`).
        public var idleTime: Duration = .seconds(60)
        /// How long after its opening a connection accepts requests; nil for no limit.
        public var maximumAge: Duration?
        /// The number of requests that a connection accepts; nil for no limit.
        public var maximumUses: Int?

        public init() {}
    }

    /// The size limits for the parts of a response. A session is not made with a negative limit, nor with one of zero
    /// that no response could keep to.
    public struct Limits: Sendable, Hashable {
        /// The length of a body that is read as a whole, in bytes; nil for no limit. A streamed body has none.
        public var bodyBytes: Int? = 64 * 1024 * 1024
        /// The decoded length of a body with a content coding, streamed or not, in bytes; nil for no limit.
        public var decodedBytes: Int? = 256 * 1024 * 1024
        /// The ratio of a coded body's decoded length to its length on the wire, after the first MiB; nil for no limit.
        public var decodingRatio: Int? = 500
        /// The length of a head with its status line, in bytes.
        public var headBytes = 128 * 1024
        public var lineBytes = 16 * 1024
        /// The number of fields in a head: a thousand of the server's own, and some that every response has.
        public var fieldCount = 1024
        public var interimResponses = 16
        public var trailerBytes = 16 * 1024
        /// How many bytes of a response's body an error carries, if the response was refused or broke off.
        public var errorBodyBytes = NetworkError.keptBody
        /// How often a request may be sent again, for all reasons together: retries, redirects, challenges, refreshed
        /// credentials, lost connections. A redirect limit above 20 and each allowed retry raise it. A download counts
        /// from its last progress. Beyond the limit a request fails with `NetworkError` code `sentTooOften`.
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

    /// Tells the observers of a closed connection; nil without observers.
    var connectionEnded: (@Sendable (HTTP.EndedConnection) -> Void)? {
        if observers.isEmpty { return nil }
        return { [observers] connection in for observer in observers { observer.connectionEnded(connection) } }
    }

    /// The rules for connections; nil for the usual ones. With a custom transport, no proxy is used.
    func connectionRules() throws -> ConnectionRules? {
        let chooser = try transport == nil ? proxy.chooser(variables, .invalidConfiguration) : nil
        if `guard` == nil, chooser == nil { return nil }
        return ConnectionRules(`guard`?.enforcedRules, chooser)
    }

    private var variables: [String: String] { environment ?? ProcessInfo.processInfo.environment }
}
