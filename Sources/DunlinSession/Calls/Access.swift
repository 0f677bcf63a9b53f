internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport

/// Who asks, where the request may go, and what may be kept of its answer, for one hop, before anything is sent.
///
/// `LiveCall.access` makes it, only for the stages that keep or share an answer. None of them examines fields to find
/// out for itself.
///
/// Rules:
/// 1. Signs that stages add count, unless the request has its own `Authorization`, which is sent instead.
/// 2. Signs of the way always count: interceptors around exchanges may add a token, a server or proxy may know us by
///    our certificate, and a proxy by its password. So does the jar, if it adds cookies: whose they are is known, and
///    not their values, which servers change with each response.
/// 3. The request's own secret fields count in addition, never instead (`CacheOwner`).
/// 4. If only the request's own handler knows something of the user, the user is unknown, and nothing is kept or
///    shared.
/// 5. An answer is kept and shared only if the same signs counted when it came, and on the connection that brought it:
///    a session's identity may be replaced while a request waits for a connection, and its handler may name another
///    user.
/// 6. The terms are what may influence the answer: the guard, who is trusted, a proxy that reads requests, from which
///    network it is asked, and the user's own resolver or transport, which may lead anywhere.
struct Access: Sendable {
    enum User: Sendable, Hashable {
        case nobody
        /// The user is identified by a text that nobody else has. It may be a secret.
        case known(ExactText)
        case unknown
    }

    /// Something that says who asks.
    enum Sign: Sendable {
        enum Source: String, Sendable {
            case authenticator
            case handler
            case interceptors
            case jar
            case redirectHook
        }

        case password(user: String, password: String)
        /// A user that the session's code knows, identified by a text that other users' sessions do not have.
        case session(Source, part: String, String)
        /// Our certificate, by its digest.
        case certificate(Bytes)
        /// A proxy that knows us by these credentials.
        case proxy(String, user: String, password: String)
        /// Somebody whom only the request's own code knows.
        case unknown
    }

    /// What tells servers who we are, apart from the request's fields.
    struct ConnectionSetup: Sendable {
        let chosen: ChosenTerms
        let policies: Policies
    }

    /// The current TLS policies, for origins and for proxies.
    struct Policies: Sendable {
        let origins: SessionTLSPolicy
        let proxies: SessionTLSPolicy
    }

    /// The request that this is the access of, without cookies.
    let request: TransportRequest
    let user: User
    /// The head as it will be sent, except for what stages and interceptors add beyond the jar's cookies.
    let head: RequestHead
    /// The terms as text; empty for the usual ones.
    let terms: String
    /// The way by which it will be sent.
    let setup: ConnectionSetup
    /// The number of the jar whose cookies it is sent with; nil without a jar.
    let jar: String?
    /// Why the request may not go to its destination, as far as is known before a name is looked up; nil if it may.
    let refusal: GuardRefusal?

    /// Whether an answer may be kept and shared with requests of the same user.
    var isKept: Bool { user != .unknown }

    var asker: CacheAsker { asker(user) }

    /// A `Cookie` of the request's own tells who asks, as a secret field does.
    fileprivate func asker(_ user: User) -> CacheAsker {
        let cookies = request.head.fields.values(of: "cookie").map { "cookie \($0.utf8.count):\($0)" }.joined()
        guard case .known(let name) = user else {
            return CacheAsker(user: cookies, terms: terms, fields: head.fields)
        }
        return CacheAsker(user: cookies + name.string, terms: terms, fields: head.fields)
    }
}

extension Access.User {
    /// Creates an access. `added` are the signs that stages add, and `always` those of the way.
    init(added: [Access.Sign], always: [Access.Sign], hasOwnAuthorization: Bool) {
        let signs = (hasOwnAuthorization ? [] : added) + always
        if signs.isEmpty {
            self = .nobody
        } else if signs.contains(where: \.isUnknown) {
            self = .unknown
        } else {
            self = .known(ExactText(signs.map { Self.parts($0.parts) }.joined()))
        }
    }

    /// The parts joined, each with its length, so that different lists give different texts.
    private static func parts(_ parts: [String]) -> String {
        "\(parts.count);" + parts.map { "\($0.utf8.count):\($0)" }.joined()
    }
}

extension Access.Sign {
    fileprivate var isUnknown: Bool { if case .unknown = self { true } else { false } }

    fileprivate var parts: [String] {
        switch self {
        case .password(let user, let password): ["password", user, password]
        case .session(let source, let part, let name): [source.rawValue, part, name]
        case .certificate(let digest): ["certificate", digest.hex]
        case .proxy(let address, let user, let password): ["proxy", address, user, password]
        case .unknown: []
        }
    }
}

extension Access: CustomReflectable {
    /// Shows nothing of the user.
    var customMirror: Mirror { Mirror(self, children: ["head": head, "terms": terms]) }
}

// MARK: - Making it

extension LiveCall {
    /// The access of a request that is about to be sent. Throws if choosing the proxy does.
    func access(to request: TransportRequest) throws -> Access {
        let jar = chain.cookies(for: delegate)
        let number = jar?.number
        let head = jar?.completing(request).head ?? request.head
        let usual = chain.settings.builder.connectionRules
        let rules = connectionRules
        let chosen = try choice(for: head)
        let setup = Access.ConnectionSetup(chosen: chosen, policies: policies)
        return Access(
            request: request, user: user(of: request, head, chosen.terms?.proxy, setup.policies), head: head,
            terms: terms(of: head.origin, guardName(of: rules, usual), chosen.terms?.proxy, setup.policies),
            setup: setup, jar: number,
            refusal: rules?.guardRules?.refusal(of: head.origin, through: chosen.terms?.proxy))
    }

    /// Whether an interceptor around the exchange sent the request to another origin, target or Host, or by another
    /// method. A transport around the session's own may do so: it counts among the terms.
    var wasSentElsewhere: Bool {
        guard let sent = sent?.head, !session.configuration.interceptors.contains(where: { $0.outerTransport != nil })
        else { return false }
        return sent.method != request.head.method || sent.target != request.head.target
            || !sent.origin.isSame(as: request.head.origin)
            || CacheKey.ownHost(of: sent) != CacheKey.ownHost(of: request.head)
    }

    /// Whether an answer is still for the one who asked: the signs have not changed, and the connection was made under
    /// them. The jar may have got its first cookie before the request was sent, or have become another user's.
    func isStill(_ access: Access, over hop: HTTP.Hop) -> Bool {
        let setup = access.setup
        var head = access.head
        if let sent { head.fields["cookie"] = sent.head.fields["cookie"] }
        return access.jar == chain.cookies(for: delegate)?.number
            && access.user == user(of: access.request, head, setup.chosen.terms?.proxy, policies)
            && hop.isOver(setup.policies, through: setup.chosen.terms?.proxy)
    }

    /// Who would ask the same again after an answer that gave the jar its first cookies for the request: a first visit
    /// often brings a page made for the cookie that comes with it. Nil for the one who asked.
    func asker(after answer: ResponseHead, to access: Access) -> CacheAsker? {
        guard answer.fields.contains("set-cookie"), let jar = chain.cookies(for: delegate) else { return nil }
        let own = access.request.head.fields.values(of: "cookie")
        if CookieField.added(to: own, in: access.head.fields["cookie"]) != nil { return nil }
        let head = jar.completing(access.request).head
        return access.asker(user(of: access.request, head, access.setup.chosen.terms?.proxy, access.setup.policies))
    }

    /// The terms of the hop: those chosen for it, or else the usual ones.
    func choice(for head: RequestHead) throws -> ChosenTerms {
        if let chosen, chosen.areFor(head) { return chosen }
        let inTunnel = delegate.settings?.exchangeOptions?.upgrade != nil
        return try ChosenTerms(head, by: connectionRules, inTunnel: inTunnel)
    }

    var connectionRules: ConnectionRules? {
        let options = part?.exchangeOptions ?? delegate.settings?.exchangeOptions
        return options?.connectionRules ?? chain.settings.builder.connectionRules
    }

    /// The current TLS policies.
    var policies: Access.Policies {
        let sources = session.tlsPolicySources
        return Access.Policies(origins: sources.origins.latestPolicy, proxies: sources.proxies.latestPolicy)
    }

    /// `jarCounts` says that the jar counts even if it adds no cookies to the head.
    func user(
        of request: TransportRequest, _ head: RequestHead, _ proxy: ProxyAddress?, _ policies: Access.Policies,
        jarCounts: Bool = false
    ) -> Access.User {
        var added: [Access.Sign] = []
        // Most stages add none, and joining lists of nothing takes longer than asking.
        for stage in chain.stages {
            let signs = stage.signs(of: request, for: self)
            if !signs.isEmpty { added += signs }
        }
        return Access.User(
            added: added, always: signs(of: head, proxy, policies) + signs(of: request, completedTo: head, jarCounts),
            hasOwnAuthorization: head.fields.contains("authorization"))
    }

    /// The sign of the jar, if the head has cookies that it added.
    private func signs(
        of request: TransportRequest, completedTo head: RequestHead, _ jarCounts: Bool
    ) -> [Access.Sign] {
        guard jarCounts || head.fields.contains("cookie"), let jar = chain.cookies(for: delegate) else { return [] }
        let added = CookieField.added(to: request.head.fields.values(of: "cookie"), in: head.fields["cookie"])
        return jarCounts || added != nil ? [session.user.sign(jar)] : []
    }

    /// The signs of who asks that do not depend on the request itself.
    private func signs(
        of head: RequestHead, _ proxy: ProxyAddress?, _ policies: Access.Policies
    ) -> [Access.Sign] {
        var signs: [Access.Sign] = []
        if let passed = chain.exchangeInterceptors.passed(in: session) {
            // Turning the cache off for a request says that the caller's own code knows who asks.
            let isOwn = delegate.settings?.options.common.cacheMode(insteadOf: .standard) == .off
            signs.append(isOwn ? .unknown : session.user.sign(.interceptors, part: passed))
        }
        if let proxy, let credentials = proxy.credentials {
            signs.append(.proxy(proxy.description, user: credentials.user, password: credentials.password))
        }
        if proxy?.scheme == .https, let key = policies.proxies.identityKey { signs.append(.certificate(key)) }
        guard head.origin.scheme == .https else { return signs }
        // Handlers are asked for certificates, too.
        if delegate.settings?.options.connecting.authenticationHandler != nil { signs.append(.unknown) }
        if policies.origins.setup.hook != nil { signs.append(session.user.sign(.handler)) }
        if let key = policies.origins.identityKey { signs.append(.certificate(key)) }
        return signs
    }

    /// The request's current terms; `proxy` is the one that it went through.
    func terms(
        of request: TransportRequest, _ proxy: ProxyAddress?, _ policies: Access.Policies, withNetwork: Bool = true
    ) -> String {
        // A session that keeps nothing has no prepared name.
        terms(of: request.head.origin, Access.name(of: connectionRules?.guardRules), proxy, policies, withNetwork)
    }

    private func guardName(of rules: ConnectionRules?, _ usual: ConnectionRules?) -> String? {
        rules === usual ? chain.settings.guardName : Access.name(of: rules?.guardRules)
    }

    private func terms(
        of origin: HTTP.Origin, _ guardName: String?, _ proxy: ProxyAddress?, _ policies: Access.Policies,
        _ withNetwork: Bool = true
    ) -> String {
        var terms = guardName ?? ""
        if withNetwork { terms += Access.network(of: session.configuration, origin.route) }
        if let code = session.codeOfWay { terms += " over \(code)" }
        if origin.scheme == .https { return terms + trust(policies.origins.setup) }
        guard let proxy else { return terms }
        // Only a proxy that is asked in place of the origin can answer for it.
        return "\(terms) by \(proxy)" + (proxy.scheme == .https ? trust(policies.proxies.setup) : "")
    }

    private func trust(_ setup: SessionTLSPolicy.Setup) -> String {
        var terms = setup.trustName.isEmpty ? "" : " trust \(setup.trustName)"
        // The handler may have trusted a server that others would not.
        if setup.hook != nil { terms += " " + session.user.trust }
        return terms
    }
}

extension HTTP.Hop {
    /// Whether the connection was made under these policies. A foreign transport does not say; it counts as yes.
    func isOver(_ policies: Access.Policies) -> Bool {
        guard let making = peerReference?.making else { return true }
        return making.tlsGeneration ?? policies.origins.tlsGeneration == policies.origins.tlsGeneration
            && making.proxyTLSGeneration ?? policies.proxies.tlsGeneration == policies.proxies.tlsGeneration
    }

    /// The proxy that the connection went through, with its credentials.
    var proxyAddress: ProxyAddress? { (peerReference?.making.terms as? ConnectionTerms)?.proxy }

    fileprivate func isOver(_ policies: Access.Policies, through proxy: ProxyAddress?) -> Bool {
        peerReference == nil || (proxyAddress == proxy && isOver(policies))
    }
}

extension Access {
    /// From which of this machine's addresses, and through which of its interfaces, requests are sent: other networks
    /// may have other servers by the same names, and servers may judge by the address. Empty where nothing is said.
    static func network(of configuration: HTTPSession.Configuration, _ route: HTTP.Route? = nil) -> String {
        let sockets = route?.sockets ?? configuration.sockets
        let interfaces = route?.interfaces ?? configuration.interfaces
        var name = sockets.localAddress.map { " from \($0)" } ?? ""
        if let interface = sockets.interface { name += " through \(interface)" }
        if interfaces.isAny { return name }
        // Names and kinds apart: an interface may be named like a kind.
        name += " only \(interfaces.allowedNames.sorted()) \(interfaces.allowedKinds.map(\.rawValue).sorted())"
        return name + " not \(interfaces.deniedNames.sorted()) \(interfaces.deniedKinds.map(\.rawValue).sorted())"
    }

    /// A name that is the same for equal rules in every process; nil without a guard.
    static func name(of rules: GuardRules?) -> String? {
        guard let rules else { return nil }
        let text = "\(rules)"
        do throws(HashFunction.Unavailable) {
            return "guard " + (try HashFunction.sha256.hash(of: Bytes(text)).hex)
        } catch {
            return "guard " + text
        }
    }
}
