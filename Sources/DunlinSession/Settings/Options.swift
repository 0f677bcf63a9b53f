package import DunlinTransport

extension HTTPSession {
    /// The settings of one request that differ from its session's.
    public struct Options: Sendable {
        /// The fields of this request; each replaces the session's fields with the same name.
        public var fields: Fields
        /// The length limit of a response's body that is read as a whole.
        public var bodyLimit: PerRequest<Int>
        /// Whether a status other than 2xx, or a content type that the serializer does not expect, is an error. Streams
        /// of events that resume check their content type in any case.
        public var validatesResponse: Bool
        /// Whether content codings such as gzip are removed from the response. If not, the body is as on the wire, and
        /// the default `Accept-Encoding` is not sent; your own is.
        public var decodesContent: Bool
        /// The order in which requests that wait for a connection are served. A higher priority overtakes waiting
        /// requests, not running ones.
        public var priority: HTTP.Priority
        /// Whether the body waits for the server's consent (`Expect: 100-continue`), so that a refusal costs no upload.
        /// No effect without a body. Your own field `Expect: 100-continue` has the same effect.
        public var expectsContinue = false
        /// The request's own time limits; nil for the session's and the usual ones.
        @usableFromInline var timeLimits: TimeLimits?
        /// Options that few requests set; nil if none is set.
        @usableFromInline var rare: RareOptions?

        @inlinable public init() {
            fields = Fields()
            bodyLimit = .session
            validatesResponse = true
            decodesContent = true
            priority = .normal
        }
    }

    /// The time limits of a request with its own. An object, so that options without them stay small: they are passed
    /// with every call.
    @usableFromInline final class TimeLimits: Sendable {
        let timeouts: RequestTimeouts
        let continueTimeout: Duration
        static let usualContinueTimeout = Duration.seconds(1)

        init(_ timeouts: RequestTimeouts, continueTimeout: Duration) {
            self.timeouts = timeouts
            self.continueTimeout = continueTimeout
        }
    }
}

extension HTTPSession.Options {
    /// The limits that differ from the session's.
    public var timeouts: HTTPSession.RequestTimeouts {
        get { timeLimits?.timeouts ?? HTTPSession.RequestTimeouts() }
        set { timeLimits = HTTPSession.TimeLimits(newValue, continueTimeout: continueTimeout) }
    }

    /// How long a body waits for the server's consent before it is sent without it, since not every server answers.
    public var continueTimeout: Duration {
        get { timeLimits?.continueTimeout ?? HTTPSession.TimeLimits.usualContinueTimeout }
        set { timeLimits = HTTPSession.TimeLimits(timeouts, continueTimeout: newValue) }
    }
}

// MARK: - Options that few requests set

extension RareOptions {
    /// The options that few requests set.
    struct Values: Sendable, Equatable {
        var hostOverrides = HTTPSession.HostOverrides()
        var sockets = HTTPSession.PerRequest<HTTP.SocketOptions>.session
        var interfaces = HTTPSession.PerRequest<NetworkInterface.Rules>.session
        var `guard` = HTTPSession.PerRequest<HTTPSession.Guard>.session
        @Presence var proxy: OwnProxy?
        var cacheMode = HTTPSession.PerRequest<HTTPSession.CacheMode>.session
        var coalesces = true
        var waitsForConnectivity = HTTPSession.PerRequest<Bool>.session
        @Presence var authenticationHandler: HTTPSession.AuthenticationHandler?
        var redirects = HTTPSession.PerRequest<HTTPSession.RedirectPolicy>.session
        var retry = HTTPSession.PerRequest<HTTPSession.RetryPolicy>.session
        var credentials = HTTPSession.PerRequest<HTTP.Credentials>.session
        var handlesCookies = HTTPSession.PerRequest<Bool>.session
        var errorBodyLimit = HTTPSession.PerRequest<Int>.session
        @Presence var hooks: HTTPSession.Hooks?
        var label: String?
        var operation: String?
        var tags: Set<String> = []
        var startsAfter: [HTTPSession.TaskID] = []
        @Presence var begun: (@Sendable () -> Void)?
        var keepsProvenance = false
        var oldestStored: Int64?
        var upgrade: UpgradeOptions?
    }
}

extension HTTPSession.Options {
    /// The addresses of hosts, which override the session's `hostOverrides`.
    public var hostOverrides: HTTPSession.HostOverrides {
        get { rare?.values.hostOverrides ?? HTTPSession.HostOverrides() }
        set { changeRare { $0.hostOverrides = newValue } }
    }

    /// The socket options, instead of the session's. The request uses a connection opened with exactly these options.
    public var sockets: HTTPSession.PerRequest<HTTP.SocketOptions> {
        get { rare?.values.sockets ?? .session }
        set { changeRare { $0.sockets = newValue } }
    }

    /// The rules for interfaces, instead of the session's. The request uses a connection opened by exactly these rules.
    public var interfaces: HTTPSession.PerRequest<NetworkInterface.Rules> {
        get { rare?.values.interfaces ?? .session }
        set { changeRare { $0.interfaces = newValue } }
    }

    /// The guard, instead of the session's; `.none` for no guard. The request uses a connection opened under exactly
    /// this guard.
    public var `guard`: HTTPSession.PerRequest<HTTPSession.Guard> {
        get { rare?.values.guard ?? .session }
        set { changeRare { $0.guard = newValue } }
    }

    /// The proxy, instead of the session's; `.none` for the direct way. Redirects go through it too.
    public var proxy: HTTPSession.PerRequest<HTTPSession.Proxy> {
        get { rare?.values.proxy?.choice ?? .session }
        set { changeRare { $0.proxy = RareOptions.OwnProxy(newValue) } }
    }

    /// The request's use of the session's cache, instead of `configuration.cacheMode`. No effect without a cache.
    public var cacheMode: HTTPSession.PerRequest<HTTPSession.CacheMode> {
        get { rare?.values.cacheMode ?? .session }
        set { changeRare { $0.cacheMode = newValue } }
    }

    /// Whether the request may share an identical one that is under way. No effect without `configuration.coalescing`.
    public var coalesces: Bool {
        get { rare?.values.coalesces ?? true }
        set { changeRare { $0.coalesces = newValue } }
    }

    /// Whether the request waits for a network, instead of the session's setting.
    public var waitsForConnectivity: HTTPSession.PerRequest<Bool> {
        get { rare?.values.waitsForConnectivity ?? .session }
        set { changeRare { $0.waitsForConnectivity = newValue } }
    }

    /// Called to decide whether to trust a server, when a server asks for our identity, and for a 401, before the
    /// session's handler. Its answer is for this request alone: over TLS, the request has its own connection. It is
    /// asked about every server that redirects lead to; the challenge names the server.
    public var authenticationHandler: HTTPSession.AuthenticationHandler? {
        get { rare?.values.authenticationHandler }
        set { changeRare { $0.authenticationHandler = newValue } }
    }

    /// The redirect policy: `.none` delivers every redirect unchanged; `.follow(limit:)`, or a policy as a `.value`,
    /// replaces the session's.
    public var redirects: HTTPSession.PerRequest<HTTPSession.RedirectPolicy> {
        get { rare?.values.redirects ?? .session }
        set { changeRare { $0.redirects = newValue } }
    }

    /// The retry policy: `.none` for no retries, or a policy instead of the session's.
    public var retry: HTTPSession.PerRequest<HTTPSession.RetryPolicy> {
        get { rare?.values.retry ?? .session }
        set { changeRare { $0.retry = newValue } }
    }

    /// The credentials for this request's origin; they are not sent to another origin that a redirect leads to. They
    /// override the session's and the user info in a URL; a field `Authorization` in `fields` overrides them. `.none`
    /// sends none of these, and delivers a 401 unchanged.
    public var credentials: HTTPSession.PerRequest<HTTP.Credentials> {
        get { rare?.values.credentials ?? .session }
        set { changeRare { $0.credentials = newValue } }
    }

    /// Whether the request sends cookies of the session's jar and stores those of its responses. A Cookie field in
    /// `fields` is sent in any case.
    public var handlesCookies: HTTPSession.PerRequest<Bool> {
        get { rare?.values.handlesCookies ?? .session }
        set { changeRare { $0.handlesCookies = newValue } }
    }

    /// How many bytes of a response's body an error carries, if the response was refused or broke off, instead of the
    /// session's `limits.errorBodyBytes`. `.none` for no limit.
    public var errorBodyLimit: HTTPSession.PerRequest<Int> {
        get { rare?.values.errorBodyLimit ?? .session }
        set { changeRare { $0.errorBodyLimit = newValue } }
    }

    /// Hooks for this request, called before the session's.
    public var hooks: HTTPSession.Hooks {
        get { rare?.values.hooks ?? HTTPSession.Hooks() }
        set { changeRare { $0.hooks = newValue } }
    }

    /// A name of your own for the request, which the registry shows.
    public var label: String? {
        get { rare?.values.label }
        set { changeRare { $0.label = newValue } }
    }

    /// What the API's description calls the request, such as an `operationId` of OpenAPI, for observers: spans are
    /// named after it. A program has few of them, so it contains no value.
    public var operation: String? {
        get { rare?.values.operation }
        set { changeRare { $0.operation = newValue } }
    }

    /// Your own tags, by which the registry finds and cancels requests.
    public var tags: Set<String> {
        get { rare?.values.tags ?? [] }
        set { changeRare { $0.tags = newValue } }
    }

    /// Requests of the same session that must end, with any outcome, before this one begins. Requests that are over or
    /// unknown count as ended. While it waits for them, it has no position in a queue, and only an inherited deadline
    /// applies.
    public var startsAfter: [HTTPSession.TaskID] {
        get { rare?.values.startsAfter ?? [] }
        set { changeRare { $0.startsAfter = newValue } }
    }

    /// Called on the loop when the request's turn has come and its time limits begin.
    package var begun: (@Sendable () -> Void)? {
        get { rare?.values.begun }
        set { changeRare { $0.begun = newValue } }
    }

    /// Whether the response has its provenance.
    package var keepsProvenance: Bool {
        get { rare?.values.keepsProvenance ?? false }
        set { changeRare { $0.keepsProvenance = newValue } }
    }

    /// The time, by the clock of the session's cache, before which nothing was stored that may answer it; nil for any.
    package var oldestStored: Int64? {
        get { rare?.values.oldestStored }
        set { changeRare { $0.oldestStored = newValue } }
    }

    /// How the connection is used if the server agrees to the protocol that the request offers; nil if it offers none.
    package var upgrade: UpgradeOptions? {
        get { rare?.values.upgrade }
        set { changeRare { $0.upgrade = newValue } }
    }

    /// Changes a copy of the values, which is kept.
    mutating func changeRare(_ change: (inout RareOptions.Values) -> Void) {
        var values = rare?.values ?? RareOptions.Values()
        change(&values)
        rare = RareOptions(values)
    }
}

// MARK: - In one expression

extension HTTPSession.Options {
    /// Creates options. Each argument is described at the property with its name; omitted ones are the session's.
    ///
    /// ```swift
    /// let options = HTTPSession.Options(timeouts: .init(firstByte: .seconds(5)), tags: ["nightly"], retry: .never)
    /// ```
    public init(
        fields: Fields = Fields(), timeouts: HTTPSession.RequestTimeouts = HTTPSession.RequestTimeouts(),
        bodyLimit: HTTPSession.PerRequest<Int> = .session, validatesResponse: Bool = true,
        decodesContent: Bool = true, label: String? = nil, operation: String? = nil, tags: Set<String> = [],
        priority: HTTP.Priority = .normal,
        retry: HTTPSession.PerRequest<HTTPSession.RetryPolicy> = .session,
        redirects: HTTPSession.PerRequest<HTTPSession.RedirectPolicy> = .session,
        credentials: HTTPSession.PerRequest<HTTP.Credentials> = .session,
        handlesCookies: HTTPSession.PerRequest<Bool> = .session,
        expectsContinue: Bool = false,
        continueTimeout: Duration? = nil, errorBodyLimit: HTTPSession.PerRequest<Int> = .session,
        cacheMode: HTTPSession.PerRequest<HTTPSession.CacheMode> = .session, coalesces: Bool = true,
        waitsForConnectivity: HTTPSession.PerRequest<Bool> = .session,
        hostOverrides: HTTPSession.HostOverrides = HTTPSession.HostOverrides(),
        sockets: HTTPSession.PerRequest<HTTP.SocketOptions> = .session,
        interfaces: HTTPSession.PerRequest<NetworkInterface.Rules> = .session,
        proxy: HTTPSession.PerRequest<HTTPSession.Proxy> = .session,
        guard: HTTPSession.PerRequest<HTTPSession.Guard> = .session,
        authenticationHandler: HTTPSession.AuthenticationHandler? = nil,
        hooks: HTTPSession.Hooks? = nil, startsAfter: [HTTPSession.TaskID] = []
    ) {
        self.init()
        self.fields = fields
        self.bodyLimit = bodyLimit
        self.validatesResponse = validatesResponse
        self.decodesContent = decodesContent
        self.priority = priority
        self.expectsContinue = expectsContinue
        if timeouts != HTTPSession.RequestTimeouts() { self.timeouts = timeouts }
        if let continueTimeout { self.continueTimeout = continueTimeout }
        var values = RareOptions.Values()
        (values.label, values.operation, values.tags, values.startsAfter) = (label, operation, tags, startsAfter)
        (values.retry, values.redirects, values.credentials) = (retry, redirects, credentials)
        (values.errorBodyLimit, values.hooks, values.handlesCookies) = (errorBodyLimit, hooks, handlesCookies)
        (values.cacheMode, values.coalesces, values.waitsForConnectivity) = (cacheMode, coalesces, waitsForConnectivity)
        (values.hostOverrides, values.sockets, values.interfaces) = (hostOverrides, sockets, interfaces)
        (values.guard, values.proxy) = (`guard`, RareOptions.OwnProxy(proxy))
        values.authenticationHandler = authenticationHandler
        rare = RareOptions(values)
    }

    /// Returns the options combined with a call's arguments, whose fields replace those with the same name.
    @inlinable package func with(
        _ fields: Fields, _ timeout: Duration?, upload: HTTPSession.ProgressHandler? = nil,
        download: HTTPSession.ProgressHandler? = nil
    ) -> Self {
        if fields.isEmpty, timeout == nil, upload == nil, download == nil { return self }
        return changed(fields, timeout, upload, download)
    }

    @usableFromInline func changed(
        _ fields: Fields, _ timeout: Duration?, _ upload: HTTPSession.ProgressHandler?,
        _ download: HTTPSession.ProgressHandler?
    ) -> Self {
        var options = self
        options.fields = self.fields.overlaid(with: fields)
        if let timeout { options.timeouts.total = .value(timeout) }
        if upload == nil, download == nil { return options }
        var hooks = hooks
        if let upload { hooks.uploadProgress = Self.both(hooks.uploadProgress, upload) }
        if let download { hooks.downloadProgress = Self.both(hooks.downloadProgress, download) }
        options.hooks = hooks
        return options
    }

    private static func both(
        _ hook: HTTPSession.ProgressHook?, _ handler: @escaping HTTPSession.ProgressHandler
    ) -> HTTPSession.ProgressHook {
        { snapshot, step in
            await hook?(snapshot, step)
            await handler(step)
        }
    }
}
