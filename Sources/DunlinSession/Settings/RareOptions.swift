extension HTTPSession.Options {
    /// Counts before the session's `hosts`.
    public var hostOverrides: HTTPSession.HostOverrides {
        get { rare?.values.hostOverrides ?? HTTPSession.HostOverrides() }
        set { setRare { $0.hostOverrides = newValue } }
    }

    /// Instead of the session's. The request uses a connection opened with just these.
    public var sockets: HTTP.SocketOptions? {
        get { rare?.values.sockets }
        set { setRare { $0.sockets = newValue } }
    }

    /// Instead of the session's. The request uses a connection that was opened by just these rules.
    public var interfaces: NetworkInterface.Rules? {
        get { rare?.values.interfaces }
        set { setRare { $0.interfaces = newValue } }
    }

    /// Instead of the session's.
    public var waitsForConnectivity: Bool? {
        get { rare?.values.waitsForConnectivity }
        set { setRare { $0.waitsForConnectivity = newValue } }
    }

    /// Asked when a server wants to be believed or to know who we are, and the session's hook has no opinion. What it
    /// allows counts for this request alone: over TLS the request has a connection to itself. It is asked about every
    /// server that redirects lead to; the challenge says which.
    public var authenticationHandler: HTTPSession.AuthenticationHandler? {
        get { rare?.values.authenticationHandler }
        set { setRare { $0.authenticationHandler = newValue } }
    }

    /// Instead of the session's.
    public var redirects: HTTPSession.RedirectPolicy? {
        get { rare?.values.redirects }
        set { setRare { $0.redirects = newValue } }
    }

    /// Instead of the session's: whether this request is tried again when it failed.
    public var retry: HTTPSession.RetryPolicy? {
        get { rare?.values.retry }
        set { setRare { $0.retry = newValue } }
    }

    /// Sent to wherever this request goes, but not to another origin that a redirect leads to. Counts before the
    /// session's, and before the user info in a URL; a field `Authorization` in `fields` counts before it.
    public var credentials: HTTP.Credentials? {
        get { rare?.values.credentials }
        set { setRare { $0.credentials = newValue } }
    }

    /// False to send no cookies of the session's jar with this request and to take none from its responses. A Cookie
    /// field in `fields` is sent anyway.
    public var handlesCookies: Bool? {
        get { rare?.values.handlesCookies }
        set { setRare { $0.handlesCookies = newValue } }
    }

    /// Instead of the session's `limits.maximumErrorBodySize`: how much of a response's body an error carries, if that
    /// was refused or did not come to its end.
    public var maximumErrorBodySize: Int? {
        get { rare?.values.maximumErrorBodySize }
        set { setRare { $0.maximumErrorBodySize = newValue } }
    }

    /// Asked after the session's.
    public var hooks: HTTPSession.Hooks {
        get { rare?.values.hooks ?? HTTPSession.Hooks() }
        set { setRare { $0.hooks = newValue } }
    }

    /// The user's own name for the request; shows in the registry.
    public var label: String? {
        get { rare?.values.label }
        set { setRare { $0.label = newValue } }
    }

    /// The user's own marks: the registry finds, and cancels, by tag.
    public var tags: Set<String> {
        get { rare?.values.tags ?? [] }
        set { setRare { $0.tags = newValue } }
    }

    /// Requests of the same session that this one comes after: it does not begin before all of them have ended, however
    /// they ended. What is over already, or not known, has. While it waits for them it takes no place in a queue, and
    /// only an inherited deadline counts.
    public var startsAfter: [HTTPSession.TaskID] {
        get { rare?.values.startsAfter ?? [] }
        set { setRare { $0.startsAfter = newValue } }
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
        var waitsForConnectivity: Bool?
        var handlesCookies: Bool?
        var authenticationHandler: HTTPSession.AuthenticationHandler?
        var redirects: HTTPSession.RedirectPolicy?
        var retry: HTTPSession.RetryPolicy?
        var credentials: HTTP.Credentials?
        var hooks: HTTPSession.Hooks?
        var maximumErrorBodySize: Int?
        var label: String?
        var tags: Set<String> = []
        var startsAfter: [HTTPSession.TaskID] = []

        var isEmpty: Bool {
            hostOverrides.isEmpty && sockets == nil && authenticationHandler == nil && redirects == nil
                && credentials == nil
                && hooks == nil && label == nil && tags.isEmpty && startsAfter.isEmpty && interfaces == nil
                && waitsForConnectivity == nil && retry == nil && handlesCookies == nil && maximumErrorBodySize == nil
        }
    }

    let values: Values
    /// Whether what they say makes the request a watched one.
    let isObserved: Bool

    /// Nil if there is nothing to say.
    init?(_ values: Values) {
        if values.isEmpty { return nil }
        self.values = values
        isObserved = values.hooks?.isSet == true || !values.startsAfter.isEmpty
    }

    /// Changes a head to what these options say of it; `own` are the fields that count before them.
    func complete(_ head: inout RequestHead, _ own: Fields) throws {
        if let problem = values.retry?.problem { throw NetworkError(.invalidRequest, "retry: \(problem)") }
        head.origin = try routed(head.origin)
        guard let credentials = values.credentials, !own.contains("authorization") else { return }
        head.fields.authorize(try credentials.authorization(.invalidRequest))
    }

    /// The origin by the request's own way, where the request says one.
    func routed(_ origin: HTTP.Origin) throws -> HTTP.Origin {
        let sockets = values.sockets
        if let problem = sockets?.problem { throw NetworkError(.invalidRequest, "sockets.\(problem)") }
        let address = try Routes(values.hostOverrides, .invalidRequest).address(for: origin) ?? origin.route?.address
        let interfaces = values.interfaces
        if address == origin.route?.address, sockets == nil, interfaces == nil { return origin }
        let route = HTTP.Route(
            address: address, sockets: sockets ?? origin.route?.sockets,
            interfaces: interfaces ?? origin.route?.interfaces)
        return origin.over(route)
    }
}
