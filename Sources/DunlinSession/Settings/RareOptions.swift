package import DunlinTransport
internal import FoundationEssentials

extension HTTPSession.Options {
    /// The addresses of hosts, which override the session's `hostOverrides`.
    public var hostOverrides: HTTPSession.HostOverrides {
        get { rare?.values.connecting.hostOverrides ?? HTTPSession.HostOverrides() }
        set { setRare { $0.connecting.hostOverrides = newValue } }
    }

    /// The socket options, instead of the session's. The request uses a connection opened with exactly these options.
    public var sockets: HTTPSession.PerRequest<HTTP.SocketOptions> {
        get { rare?.values.connecting.sockets ?? .session }
        set { setRare { $0.connecting.sockets = newValue } }
    }

    /// The rules for interfaces, instead of the session's. The request uses a connection opened by exactly these rules.
    public var interfaces: HTTPSession.PerRequest<NetworkInterface.Rules> {
        get { rare?.values.connecting.interfaces ?? .session }
        set { setRare { $0.connecting.interfaces = newValue } }
    }

    /// The guard, instead of the session's; `.none` for no guard. The request uses a connection opened under exactly
    /// this guard.
    public var `guard`: HTTPSession.PerRequest<HTTPSession.Guard> {
        get { rare?.values.connecting.guard ?? .session }
        set { setRare { $0.connecting.guard = newValue } }
    }

    /// The proxy, instead of the session's; `.none` for the direct way. Redirects go through it too.
    public var proxy: HTTPSession.PerRequest<HTTPSession.Proxy> {
        get { rare?.values.connecting.proxy?.choice ?? .session }
        set { setRare { $0.connecting.proxy = RareOptions.OwnProxy(newValue) } }
    }

    /// The request's use of the session's cache, instead of `configuration.cacheMode`. No effect without a cache.
    public var cacheMode: HTTPSession.PerRequest<HTTPSession.CacheMode> {
        get { rare?.values.common.cacheMode ?? .session }
        set { setRare { $0.common.cacheMode = newValue } }
    }

    /// Whether the request may share an identical one that is under way. No effect without `configuration.coalescing`.
    public var coalesces: Bool {
        get { rare?.values.connecting.coalesces ?? true }
        set { setRare { $0.connecting.coalesces = newValue } }
    }

    /// Whether the request waits for a network, instead of the session's setting.
    public var waitsForConnectivity: HTTPSession.PerRequest<Bool> {
        get { rare?.values.common.waitsForConnectivity ?? .session }
        set { setRare { $0.common.waitsForConnectivity = newValue } }
    }

    /// Called to decide whether to trust a server, when a server asks for our identity, and for a 401, before the
    /// session's handler. Its answer is for this request alone: over TLS, the request has its own connection. It is
    /// asked about every server that redirects lead to; the challenge names the server.
    public var authenticationHandler: HTTPSession.AuthenticationHandler? {
        get { rare?.values.connecting.authenticationHandler }
        set { setRare { $0.connecting.authenticationHandler = newValue } }
    }

    /// The redirect policy: `.none` delivers every redirect unchanged; `.follow(limit:)`, or a policy as a `.value`,
    /// replaces the session's.
    public var redirects: HTTPSession.PerRequest<HTTPSession.RedirectPolicy> {
        get { rare?.values.redirects ?? .session }
        set { setRare { $0.redirects = newValue } }
    }

    /// The retry policy: `.none` for no retries, or a policy instead of the session's.
    public var retry: HTTPSession.PerRequest<HTTPSession.RetryPolicy> {
        get { rare?.values.retry ?? .session }
        set { setRare { $0.retry = newValue } }
    }

    /// The credentials for this request's origin; they are not sent to another origin that a redirect leads to. They
    /// override the session's and the user info in a URL; a field `Authorization` in `fields` overrides them. `.none`
    /// sends none of these, and delivers a 401 unchanged.
    public var credentials: HTTPSession.PerRequest<HTTP.Credentials> {
        get { rare?.values.credentials ?? .session }
        set { setRare { $0.credentials = newValue } }
    }

    /// Whether the request sends cookies of the session's jar and stores those of its responses. A Cookie field in
    /// `fields` is sent in any case.
    public var handlesCookies: HTTPSession.PerRequest<Bool> {
        get { rare?.values.common.handlesCookies ?? .session }
        set { setRare { $0.common.handlesCookies = newValue } }
    }

    /// How many bytes of a response's body an error carries, if the response was refused or broke off, instead of the
    /// session's `limits.errorBodyBytes`. `.none` for no limit.
    public var errorBodyLimit: HTTPSession.PerRequest<Int> {
        get { rare?.values.errorBodyLimit ?? .session }
        set { setRare { $0.errorBodyLimit = newValue } }
    }

    /// Hooks for this request, called before the session's.
    public var hooks: HTTPSession.Hooks {
        get { rare?.values.hooks ?? HTTPSession.Hooks() }
        set { setRare { $0.hooks = newValue } }
    }

    /// A name of your own for the request, which the registry shows.
    public var label: String? {
        get { rare?.values.label }
        set { setRare { $0.label = newValue } }
    }

    /// Your own tags, by which the registry finds and cancels requests.
    public var tags: Set<String> {
        get { rare?.values.tags ?? [] }
        set { setRare { $0.tags = newValue } }
    }

    /// Requests of the same session that must end, with any outcome, before this one begins. Requests that are over or
    /// unknown count as ended. While it waits for them, it has no position in a queue, and only an inherited deadline
    /// applies.
    public var startsAfter: [HTTPSession.TaskID] {
        get { rare?.values.startsAfter ?? [] }
        set { setRare { $0.startsAfter = newValue } }
    }

    /// Called on the loop when the request's turn has come and its time limits begin.
    package var begun: (@Sendable () -> Void)? {
        get { rare?.values.begun }
        set { setRare { $0.begun = newValue } }
    }

    /// Whether the response has its provenance.
    package var keepsProvenance: Bool {
        get { rare?.values.keepsProvenance ?? false }
        set { setRare { $0.keepsProvenance = newValue } }
    }

    /// The time, by the clock of the session's cache, before which nothing was stored that may answer it; nil for any.
    package var oldestStored: Int64? {
        get { rare?.values.oldestStored }
        set { setRare { $0.oldestStored = newValue } }
    }

    /// How the connection is used if the server agrees to the protocol that the request offers; nil if it offers none.
    package var upgrade: UpgradeOptions? {
        get { rare?.values.connecting.upgrade }
        set { setRare { $0.connecting.upgrade = newValue } }
    }

    private mutating func setRare(_ change: (inout RareOptions.Values) -> Void) {
        var values = rare?.values ?? RareOptions.Values()
        change(&values)
        rare = RareOptions(values)
    }
}

/// The options that few requests set. An object, so that options without one stay small.
@usableFromInline final class RareOptions: Sendable {
    /// The values. Those in neither part are the caller's own, or visible in the fields that are sent.
    struct Values: Sendable, Equatable {
        var connecting = ConnectingOptions()
        var common = Common()
        var redirects = HTTPSession.PerRequest<HTTPSession.RedirectPolicy>.session
        var retry = HTTPSession.PerRequest<HTTPSession.RetryPolicy>.session
        var credentials = HTTPSession.PerRequest<HTTP.Credentials>.session
        @Presence var hooks: HTTPSession.Hooks?
        var errorBodyLimit = HTTPSession.PerRequest<Int>.session
        var label: String?
        var tags: Set<String> = []
        var startsAfter: [HTTPSession.TaskID] = []
        @Presence var begun: (@Sendable () -> Void)?
        /// Whether the response has its provenance.
        var keepsProvenance = false
        var oldestStored: Int64?
    }

    /// How a request is sent: one that is not sent like the session's requests is not shared.
    struct ConnectingOptions: Sendable, Equatable {
        var hostOverrides = HTTPSession.HostOverrides()
        var sockets = HTTPSession.PerRequest<HTTP.SocketOptions>.session
        var interfaces = HTTPSession.PerRequest<NetworkInterface.Rules>.session
        var `guard` = HTTPSession.PerRequest<HTTPSession.Guard>.session
        @Presence var proxy: OwnProxy?
        @Presence var authenticationHandler: HTTPSession.AuthenticationHandler?
        var coalesces = true
        var upgrade: UpgradeOptions?

        /// The way for a command; nil for the session's.
        var curl: CurlSettings.ProxyUse? { proxy.map { $0.choice.own?.use($0.chooser) ?? .direct } }

        /// The connection rules; nil if the session's apply.
        func connectionRules(instead usual: ConnectionRules?) -> ConnectionRules? {
            if `guard`.isSession, proxy == nil { return nil }
            return ConnectionRules(
                `guard`.isSession ? usual?.guardRules : `guard`.own?.enforcedRules,
                proxy == nil ? usual?.chooseProxy : proxy?.chooser)
        }
    }

    /// What requests that are sent as one must have in common.
    struct Common: Sendable, Hashable {
        var cacheMode = HTTPSession.PerRequest<HTTPSession.CacheMode>.session
        var waitsForConnectivity = HTTPSession.PerRequest<Bool>.session
        var handlesCookies = HTTPSession.PerRequest<Bool>.session

        func cacheMode(insteadOf usual: HTTPSession.CacheMode) -> HTTPSession.CacheMode {
            cacheMode.resolved(usual) ?? .off
        }

        func waitsForConnectivity(insteadOf usual: Bool) -> Bool { waitsForConnectivity.resolved(usual) ?? false }
    }

    /// The request's own proxy, or none.
    struct OwnProxy: Sendable {
        let choice: HTTPSession.PerRequest<HTTPSession.Proxy>
        /// The chooser, read when the option is set. An unusable setting throws with each request.
        let chooser: ConnectionRules.ProxyChooser?

        init?(_ choice: HTTPSession.PerRequest<HTTPSession.Proxy>) {
            if choice.isSession { return nil }
            self.choice = choice
            do {
                chooser = try choice.own?.chooser(ProcessInfo.processInfo.environment, .invalidRequest)
            } catch {
                chooser = { _ in throw error }
            }
        }
    }

    /// A value that is compared only by its presence, such as a closure.
    @propertyWrapper struct Presence<Value: Sendable>: Sendable, Equatable {
        var wrappedValue: Value?

        static func == (one: Self, other: Self) -> Bool { (one.wrappedValue == nil) == (other.wrappedValue == nil) }
    }

    let values: Values
    /// Whether one of the options makes the request an observed one.
    let isObserved: Bool

    /// Creates options; nil if none is set.
    init?(_ values: Values) {
        if values == Values() { return nil }
        self.values = values
        isObserved = values.hooks?.isSet == true || !values.startsAfter.isEmpty || values.begun != nil
    }

    /// Adds these options to a head; `own` are the fields that override them.
    func complete(_ head: inout RequestHead, _ own: Fields, _ basic: BasicRule) throws {
        if let problem = values.retry.own?.problem { throw NetworkError(.invalidRequest, "retry.\(problem)") }
        head.origin = try routed(head.origin)
        if own.contains("authorization") { return }
        func checkBasic(_ head: RequestHead) throws {
            try basic.under(values.connecting.connectionRules(instead: basic.connectionRules)).check(head)
        }
        switch values.credentials {
        case .session:
            // The session's credentials were judged by the session's way.
            let isBasic = values.connecting.proxy != nil && head.fields["authorization"]?.hasPrefix("Basic ") == true
            if isBasic { try checkBasic(head) }
        case .none: head.fields.remove("Authorization")
        case .value(let credentials):
            if credentials.isBasic { try checkBasic(head) }
            head.fields.authorize(try credentials.authorization(.invalidRequest))
        }
    }

    /// The origin with the request's own route, if it has one.
    func routed(_ origin: HTTP.Origin) throws -> HTTP.Origin {
        let (sockets, interfaces) = (values.connecting.sockets, values.connecting.interfaces)
        if let problem = sockets.own?.problem { throw NetworkError(.invalidRequest, "sockets.\(problem)") }
        if let problem = values.connecting.guard.own?.problem { throw NetworkError(.invalidRequest, "\(problem)") }
        let address =
            try Routes(values.connecting.hostOverrides, .invalidRequest).address(for: origin) ?? origin.route?.address
        if address == origin.route?.address, sockets.isSession, interfaces.isSession { return origin }
        // In a route nil stands for the session's; none is what a session has that says nothing.
        let route = HTTP.Route(
            address: address, sockets: sockets.isSession ? origin.route?.sockets : sockets.own ?? HTTP.SocketOptions(),
            interfaces: interfaces.isSession ? origin.route?.interfaces : interfaces.own ?? .any)
        return origin.over(route)
    }
}
