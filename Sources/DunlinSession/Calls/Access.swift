internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport

/// Who asks, where the request may go, and what may be kept of its answer: of one hop, before anything is sent.
///
/// It is made by `LiveCall.access`, and only for the stages that ask: those that keep an answer or share it. None of
/// them looks at fields to find out by itself.
///
/// Rules:
/// 1. What stages add to prove who asks counts, unless the request has its own `Authorization`, which goes instead.
/// 2. What the way says counts in any case: interceptors around exchanges may put in a token, a server or proxy may
///    know us by our certificate, and a proxy by its password.
/// 3. Secret fields of the request's own count beside all that, and never in its place (`CacheOwner`).
/// 4. If anything is known by the request's own handler alone, nobody knows who asks: nothing is kept or shared then.
/// 5. An answer is kept and shared only if the same counted when it came, and for what it came over: a session's
///    identity may be replaced while a request waits for a connection, and its handler may say another user.
/// 6. The terms are what may decide which answer was seen: the guard, who is trusted, the proxy, where it reads what is
///    sent, and a resolver or transport of the user's, or one around the session's, which may lead anywhere.
struct Access: Sendable {
    enum User: Sendable, Hashable {
        case nobody
        /// By a text that nobody else has. It may be a secret.
        case known(String)
        case unknown
    }

    /// Something that says who asks.
    enum Sign: Sendable, Hashable {
        enum Source: String, Sendable {
            case authenticator
            case handler
            case interceptors
        }

        case password(user: String, password: String)
        /// A user that the session's code knows, by a text that other users' sessions do not have.
        case session(Source, part: String, String)
        /// A certificate of ours, by its digest.
        case certificate(Bytes)
        /// A proxy that knows us.
        case proxy(String, user: String, password: String)
        /// Somebody whom only the request's own code knows.
        case unknown
    }

    /// What decides on the way to a server who we are there.
    struct Way: Sendable {
        let chosen: ChosenTerms
        let policies: Policies
    }

    /// The TLS policies of one moment, for origins and for proxies.
    struct Policies: Sendable {
        let origins: SessionTLSPolicy
        let proxies: SessionTLSPolicy
    }

    /// What it is of, without cookies.
    let request: TransportRequest
    let user: User
    /// The head as it will be sent, but for what stages and interceptors add beside the jar's cookies.
    let head: RequestHead
    /// Empty for the usual ones.
    let terms: String
    /// By which way it will be sent.
    let way: Way
    /// Why the request may not go where it is to go, as far as that is known before a name is looked up.
    let refusal: GuardRefusal?

    /// Whether an answer may be kept, and shared with those who ask alike.
    var isKept: Bool { user != .unknown }

    var asker: CacheAsker {
        guard case .known(let name) = user else { return CacheAsker(terms: terms, fields: head.fields) }
        return CacheAsker(user: name, terms: terms, fields: head.fields)
    }
}

extension Access.User {
    /// `added` are the signs of what stages add, and `always` those of the way.
    init(added: [Access.Sign], always: [Access.Sign], hasOwnAuthorization: Bool) {
        let signs = (hasOwnAuthorization ? [] : added) + always
        if signs.isEmpty {
            self = .nobody
        } else if signs.contains(.unknown) {
            self = .unknown
        } else {
            self = .known(signs.map { Self.parts($0.parts) }.joined())
        }
    }

    /// Each with its length, so that no two lists are one text.
    private static func parts(_ parts: [String]) -> String {
        "\(parts.count);" + parts.map { "\($0.utf8.count):\($0)" }.joined()
    }
}

extension Access.Sign {
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
    /// Nothing of who asks.
    var customMirror: Mirror { Mirror(self, children: ["head": head, "terms": terms]) }
}

// MARK: - Making it

extension LiveCall {
    /// The access of a request that is about to be sent. Throws what the choice of a proxy throws.
    func access(to request: TransportRequest) throws -> Access {
        let head = chain.cookies(for: delegate)?.completing(request).head ?? request.head
        let usual = chain.settings.builder.connectionRules
        let rules = connectionRules
        let chosen = try choice(for: head)
        let way = Access.Way(chosen: chosen, policies: policies)
        return Access(
            request: request, user: user(of: request, head, chosen.terms?.proxy, way.policies), head: head,
            terms: terms(of: head.origin, guardName(of: rules, usual), chosen.terms?.proxy, way.policies), way: way,
            refusal: rules?.guardRules?.refusal(of: head.origin, through: chosen.terms?.proxy))
    }

    /// Whether an answer is for whom it was asked for: nothing has changed meanwhile that says who asks, and what it
    /// came over was made by what counted then.
    func isStill(_ access: Access, over hop: HTTP.Hop) -> Bool {
        let way = access.way
        return access.user == user(of: access.request, access.head, way.chosen.terms?.proxy, policies)
            && hop.isOver(way.policies, through: way.chosen.terms?.proxy)
    }

    /// The terms that the hop goes under: those that were chosen for it, if they were.
    func choice(for head: RequestHead) throws -> ChosenTerms {
        if let chosen, chosen.areFor(head) { return chosen }
        return try ChosenTerms(head, by: connectionRules)
    }

    var connectionRules: ConnectionRules? {
        let options = part?.exchangeOptions ?? delegate.settings?.exchangeOptions
        return options?.connectionRules ?? chain.settings.builder.connectionRules
    }

    /// The TLS policies of the moment.
    var policies: Access.Policies {
        let sources = session.tlsPolicySources
        return Access.Policies(origins: sources.origins.latestPolicy, proxies: sources.proxies.latestPolicy)
    }

    func user(
        of request: TransportRequest, _ head: RequestHead, _ proxy: ProxyAddress?, _ policies: Access.Policies
    ) -> Access.User {
        Access.User(
            added: chain.stages.flatMap { $0.signs(of: request, for: self) },
            always: signs(of: head, proxy, policies), hasOwnAuthorization: head.fields.contains("authorization"))
    }

    /// What says who asks, whatever the request itself says.
    private func signs(
        of head: RequestHead, _ proxy: ProxyAddress?, _ policies: Access.Policies
    ) -> [Access.Sign] {
        var signs: [Access.Sign] = []
        if let passed = chain.exchangeInterceptors.passed(in: session) {
            // Whoever turns the cache off for a request says that their code knows who asks.
            let isOwn = delegate.settings?.options.common.cacheMode(insteadOf: .standard) == .off
            signs.append(isOwn ? .unknown : session.user.sign(.interceptors, part: passed))
        }
        if let proxy, let credentials = proxy.credentials {
            signs.append(.proxy(proxy.description, user: credentials.user, password: credentials.password))
        }
        if proxy?.scheme == .https, let key = policies.proxies.identityKey { signs.append(.certificate(key)) }
        guard head.origin.scheme == .https else { return signs }
        // Handlers are asked for certificates too.
        if delegate.settings?.options.way.authenticationHandler != nil { signs.append(.unknown) }
        if policies.origins.setup.hook != nil { signs.append(session.user.sign(.handler)) }
        if let key = policies.origins.identityKey { signs.append(.certificate(key)) }
        return signs
    }

    /// The terms of a request as they are of this moment; `proxy` is the one that it went through.
    func terms(of request: TransportRequest, _ proxy: ProxyAddress?, _ policies: Access.Policies) -> String {
        // A session that keeps nothing itself has not made the name.
        terms(of: request.head.origin, Access.name(of: connectionRules?.guardRules), proxy, policies)
    }

    private func guardName(of rules: ConnectionRules?, _ usual: ConnectionRules?) -> String? {
        rules === usual ? chain.settings.guardName : Access.name(of: rules?.guardRules)
    }

    private func terms(
        of origin: HTTP.Origin, _ guardName: String?, _ proxy: ProxyAddress?, _ policies: Access.Policies
    ) -> String {
        var terms = guardName ?? ""
        if let code = session.codeOfWay { terms += " over \(code)" }
        if origin.scheme == .http { return proxy.map { "\(terms) by \($0)" } ?? terms }
        let setup = policies.origins.setup
        if !setup.trustName.isEmpty { terms += " trust \(setup.trustName)" }
        // It may have trusted a server that nobody else would.
        if setup.hook != nil { terms += " " + session.user.trust }
        return terms
    }
}

extension HTTP.Hop {
    /// Whether what it went over was made by these policies. A transport of somebody else's says nothing of that.
    func isOver(_ policies: Access.Policies) -> Bool {
        guard let making = peerReference?.making else { return true }
        return making.tlsGeneration ?? policies.origins.tlsGeneration == policies.origins.tlsGeneration
            && making.proxyTLSGeneration ?? policies.proxies.tlsGeneration == policies.proxies.tlsGeneration
    }

    /// The proxy that it went through, with its credentials.
    var proxyAddress: ProxyAddress? { (peerReference?.making.terms as? ConnectionTerms)?.proxy }

    fileprivate func isOver(_ policies: Access.Policies, through proxy: ProxyAddress?) -> Bool {
        peerReference == nil || (proxyAddress == proxy && isOver(policies))
    }
}

extension Access {
    /// The same for equal rules, in every process; nil without a guard.
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
