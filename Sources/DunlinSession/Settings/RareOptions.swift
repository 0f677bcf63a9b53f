internal import DunlinTransport
internal import FoundationEssentials

extension HTTPSession.Options {
    /// Overrides the session's `hostOverrides`.
    public var hostOverrides: HTTPSession.HostOverrides {
        get { rare?.values.hostOverrides ?? HTTPSession.HostOverrides() }
        set { setRare { $0.hostOverrides = newValue } }
    }

    /// Replace the session's. The request uses a connection opened with exactly these options.
    public var sockets: HTTP.SocketOptions? {
        get { rare?.values.sockets }
        set { setRare { $0.sockets = newValue } }
    }

    /// Replace the session's. The request uses a connection opened by exactly these rules.
    public var interfaces: NetworkInterface.Rules? {
        get { rare?.values.interfaces }
        set { setRare { $0.interfaces = newValue } }
    }

    /// Replaces the session's; `.none` for no guard. The request uses a connection opened under exactly this guard.
    public var `guard`: HTTPSession.PerRequest<HTTPSession.Guard> {
        get { rare?.values.guard ?? .session }
        set { setRare { $0.guard = newValue } }
    }

    /// Replaces the session's; `.none` for the direct way. Redirects go through it as well.
    public var proxy: HTTPSession.PerRequest<HTTPSession.Proxy> {
        get { rare?.values.proxy ?? .session }
        set { setRare { $0.setProxy(newValue) } }
    }

    /// How the request uses the session's cache, in place of `configuration.cacheMode`. Has no effect without a cache.
    public var cache: HTTPSession.CacheMode? {
        get { rare?.values.cache }
        set { setRare { $0.cache = newValue } }
    }

    /// False for a request that is sent though another like it is under way. Has no effect without
    /// `configuration.coalescing`.
    public var coalesces: Bool {
        get { rare?.values.coalesces ?? true }
        set { setRare { $0.coalesces = newValue } }
    }

    /// Replaces the session's setting.
    public var waitsForConnectivity: Bool? {
        get { rare?.values.waitsForConnectivity }
        set { setRare { $0.waitsForConnectivity = newValue } }
    }

    /// Asked when a server is to be trusted, asks for our identity or says 401, before the session's handler. Its
    /// answer counts for this request alone: over TLS the request has a connection to itself. It is asked about every
    /// server that redirects lead to; the challenge says which.
    public var authenticationHandler: HTTPSession.AuthenticationHandler? {
        get { rare?.values.authenticationHandler }
        set { setRare { $0.authenticationHandler = newValue } }
    }

    /// `.none` delivers every redirect as it is; `.follow(limit:)`, or a policy as a `.value`, replaces the session's.
    public var redirects: HTTPSession.PerRequest<HTTPSession.RedirectPolicy> {
        get { rare?.values.redirects ?? .session }
        set { setRare { $0.redirects = newValue } }
    }

    /// Whether and when this request has another attempt: `.none` for never, or a policy in place of the session's.
    public var retry: HTTPSession.PerRequest<HTTPSession.RetryPolicy> {
        get { rare?.values.retry ?? .session }
        set { setRare { $0.retry = newValue } }
    }

    /// Credentials for the origin of this request; not sent to another origin that a redirect leads to. They override
    /// the session's, and the user info in a URL; a field `Authorization` in `fields` overrides them. `.none` sends
    /// none of these, and delivers a 401 as it is.
    public var credentials: HTTPSession.PerRequest<HTTP.Credentials> {
        get { rare?.values.credentials ?? .session }
        set { setRare { $0.credentials = newValue } }
    }

    /// False to send no cookies of the session's jar with this request, and to store none from its responses. A Cookie
    /// field in `fields` is sent anyway.
    public var handlesCookies: Bool? {
        get { rare?.values.handlesCookies }
        set { setRare { $0.handlesCookies = newValue } }
    }

    /// Replaces the session's `limits.maximumErrorBodySize`: how many bytes of a response's body an error carries, if
    /// the response was refused or broke off. `.none` for no limit.
    public var maximumErrorBodySize: HTTPSession.BodySizeLimit {
        get { rare?.values.maximumErrorBodySize ?? .session }
        set { setRare { $0.maximumErrorBodySize = newValue } }
    }

    /// Hooks for this request; they are asked before the session's.
    public var hooks: HTTPSession.Hooks {
        get { rare?.values.hooks ?? HTTPSession.Hooks() }
        set { setRare { $0.hooks = newValue } }
    }

    /// A name of your own for the request; the registry shows it.
    public var label: String? {
        get { rare?.values.label }
        set { setRare { $0.label = newValue } }
    }

    /// Marks of your own: the registry finds, and cancels, by tag.
    public var tags: Set<String> {
        get { rare?.values.tags ?? [] }
        set { setRare { $0.tags = newValue } }
    }

    /// Requests of the same session that this one comes after: it does not begin before all of them have ended,
    /// whatever their outcome. Requests that are over already, or not known, have ended. While it waits for them it has
    /// no position in a queue, and only an inherited deadline counts.
    public var startsAfter: [HTTPSession.TaskID] {
        get { rare?.values.startsAfter ?? [] }
        set { setRare { $0.startsAfter = newValue } }
    }

    /// Told, on the loop, that the request's turn has come: its limits of time begin.
    package var begun: (@Sendable () -> Void)? {
        get { rare?.values.begun }
        set { setRare { $0.begun = newValue } }
    }

    private mutating func setRare(_ change: (inout RareOptions.Values) -> Void) {
        var values = rare?.values ?? RareOptions.Values()
        change(&values)
        rare = RareOptions(values)
    }
}

/// The options that few requests set. An object, so that options without one stay small.
@usableFromInline final class RareOptions: Sendable {
    struct Values: Sendable {
        var hostOverrides = HTTPSession.HostOverrides()
        var sockets: HTTP.SocketOptions?
        var interfaces: NetworkInterface.Rules?
        var `guard` = HTTPSession.PerRequest<HTTPSession.Guard>.session
        var proxy = HTTPSession.PerRequest<HTTPSession.Proxy>.session
        /// What `proxy` says, read when the option is set; one that cannot be used throws with each request.
        private(set) var proxyChooser: ConnectionRules.ProxyChooser?
        var cache: HTTPSession.CacheMode?
        var coalesces = true
        var waitsForConnectivity: Bool?
        var handlesCookies: Bool?
        var authenticationHandler: HTTPSession.AuthenticationHandler?
        var redirects = HTTPSession.PerRequest<HTTPSession.RedirectPolicy>.session
        var retry = HTTPSession.PerRequest<HTTPSession.RetryPolicy>.session
        var credentials = HTTPSession.PerRequest<HTTP.Credentials>.session
        var hooks: HTTPSession.Hooks?
        var maximumErrorBodySize = HTTPSession.BodySizeLimit.session
        var label: String?
        var tags: Set<String> = []
        var startsAfter: [HTTPSession.TaskID] = []
        var begun: (@Sendable () -> Void)?

        mutating func setProxy(_ choice: HTTPSession.PerRequest<HTTPSession.Proxy>) {
            proxy = choice
            do {
                proxyChooser = try choice.own?.chooser(ProcessInfo.processInfo.environment, .invalidRequest)
            } catch {
                proxyChooser = { _ in throw error }
            }
        }

        var isEmpty: Bool {
            hostOverrides.isEmpty && sockets == nil && authenticationHandler == nil && redirects.isSession
                && credentials.isSession && retry.isSession && maximumErrorBodySize.isSession
                && hooks == nil && label == nil && tags.isEmpty && startsAfter.isEmpty && interfaces == nil
                && waitsForConnectivity == nil && handlesCookies == nil && `guard`.isSession && proxy.isSession
                && cache == nil && coalesces && begun == nil
        }

        /// Whether it goes as the session's requests go, by its addresses, connections and rules.
        var isOnSessionsWay: Bool {
            hostOverrides.isEmpty && sockets == nil && interfaces == nil && `guard`.isSession && proxy.isSession
                && authenticationHandler == nil
        }

        /// The way to say in a command; nil for the session's.
        var way: CurlSettings.Way? { proxy.isSession ? nil : proxy.own?.way(proxyChooser) ?? .direct }

        /// Nil if the session's count.
        func connectionRules(instead usual: ConnectionRules?) -> ConnectionRules? {
            if `guard`.isSession, proxy.isSession { return nil }
            return ConnectionRules(
                `guard`.isSession ? usual?.guardRules : `guard`.own?.enforcedRules,
                proxy.isSession ? usual?.chooseProxy : proxyChooser)
        }
    }

    let values: Values
    /// Whether one of the options makes the request an observed one.
    let isObserved: Bool

    /// Nil if no option is set.
    init?(_ values: Values) {
        if values.isEmpty { return nil }
        self.values = values
        isObserved = values.hooks?.isSet == true || !values.startsAfter.isEmpty || values.begun != nil
    }

    /// Adds to a head what these options say; `own` are the fields that override them.
    func complete(_ head: inout RequestHead, _ own: Fields, _ basic: BasicRule) throws {
        if let problem = values.retry.own?.problem { throw NetworkError(.invalidRequest, "retry: \(problem)") }
        head.origin = try routed(head.origin)
        if own.contains("authorization") { return }
        func checkBasic(_ head: RequestHead) throws {
            try basic.under(values.connectionRules(instead: basic.connectionRules)).check(head)
        }
        switch values.credentials {
        case .session:
            // The session's credentials were judged by the session's way.
            let isBasic = !values.proxy.isSession && head.fields["authorization"]?.hasPrefix("Basic ") == true
            if isBasic { try checkBasic(head) }
        case .none: head.fields.remove("Authorization")
        case .value(let credentials):
            if credentials.isBasic { try checkBasic(head) }
            head.fields.authorize(try credentials.authorization(.invalidRequest))
        }
    }

    /// The origin with the request's own route, if it has one.
    func routed(_ origin: HTTP.Origin) throws -> HTTP.Origin {
        let sockets = values.sockets
        if let problem = sockets?.problem { throw NetworkError(.invalidRequest, "sockets.\(problem)") }
        if let problem = values.guard.own?.problem { throw NetworkError(.invalidRequest, "\(problem)") }
        let address = try Routes(values.hostOverrides, .invalidRequest).address(for: origin) ?? origin.route?.address
        let interfaces = values.interfaces
        if address == origin.route?.address, sockets == nil, interfaces == nil { return origin }
        let route = HTTP.Route(
            address: address, sockets: sockets ?? origin.route?.sockets,
            interfaces: interfaces ?? origin.route?.interfaces)
        return origin.over(route)
    }
}
