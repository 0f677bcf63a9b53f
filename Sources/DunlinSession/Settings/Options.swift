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
        decodesContent: Bool = true, label: String? = nil, tags: Set<String> = [], priority: HTTP.Priority = .normal,
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
        (values.label, values.tags, values.startsAfter) = (label, tags, startsAfter)
        (values.retry, values.redirects, values.credentials) = (retry, redirects, credentials)
        (values.errorBodyLimit, values.hooks) = (errorBodyLimit, hooks)
        values.common = RareOptions.Common(
            cacheMode: cacheMode, waitsForConnectivity: waitsForConnectivity, handlesCookies: handlesCookies)
        (values.connecting.hostOverrides, values.connecting.sockets, values.connecting.interfaces) = (
            hostOverrides, sockets, interfaces
        )
        (values.connecting.guard, values.connecting.proxy) = (`guard`, RareOptions.OwnProxy(proxy))
        (values.connecting.authenticationHandler, values.connecting.coalesces) = (authenticationHandler, coalesces)
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
        if let upload { options.hooks.uploadProgress = Self.both(hooks.uploadProgress, upload) }
        if let download { options.hooks.downloadProgress = Self.both(hooks.downloadProgress, download) }
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
