internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport

/// What says who asks beside the request itself: the call's options, and what its session has now.
///
/// A call has it before it begins, so what is answered without sending is judged as what is sent.
struct Asking: Sendable {
    let call: HTTPSession.Call
    /// The call's settings; nil if it has none.
    let settings: RequestSettings?
    /// The options of the exchange.
    let exchangeOptions: ExchangeOptions?
    /// The password in the URL by which a hook replaced a redirect's.
    var redirectPassword: OriginPassword?
    /// The terms that were chosen already; nil if nobody has asked for them yet.
    var chosen: ChosenTerms?
    /// Whether interceptors around the call have not been asked yet.
    var isBeforeInterceptors = false

    init(_ call: HTTPSession.Call) {
        let settings = RequestSettings.of(call)
        self.init(call, settings, settings?.exchangeOptions)
    }

    init(_ call: HTTPSession.Call, _ settings: RequestSettings?, _ exchangeOptions: ExchangeOptions?) {
        (self.call, self.settings, self.exchangeOptions) = (call, settings, exchangeOptions)
    }

    var session: SessionCore { call.session }
    var chain: Chain { call.era.chain }
    var options: RareOptions.Values? { settings?.options }

    /// The session's jar; nil if the request uses no cookies, or none any more, because all were removed since it was
    /// made.
    var jar: CookieJar? {
        let handles = (options?.handlesCookies ?? .session).resolved(true) ?? false
        guard handles, let jar = chain.settings.configuration.cookies, jar.number == call.jarNumber else { return nil }
        return jar
    }

    /// The request's own credentials, or the session's.
    var credentials: HTTPSession.PerRequest<HTTP.Credentials> { options?.credentials ?? .session }

    var connectionRules: ConnectionRules? {
        exchangeOptions?.connectionRules ?? chain.settings.builder.connectionRules
    }

    /// The terms of a hop: those chosen for it, or else the usual ones.
    func choice(for head: RequestHead) throws -> ChosenTerms {
        if let chosen, chosen.areFor(head) { return chosen }
        return try ChosenTerms(
            head, by: connectionRules, inTunnel: settings?.exchangeOptions?.upgrade != nil)
    }

    /// The current TLS policies.
    var policies: Access.Policies {
        let sources = session.tlsPolicySources
        return Access.Policies(origins: sources.origins.latestPolicy, proxies: sources.proxies.latestPolicy)
    }
}

extension Sending {
    var asking: Asking {
        var asking = Asking(call, delegate.settings, part?.exchangeOptions ?? delegate.settings?.exchangeOptions)
        (asking.redirectPassword, asking.chosen) = (callHistory?.password, chosen)
        return asking
    }

    /// The terms of the current hop, which are chosen when they are asked for first.
    mutating func choice(for head: RequestHead) throws -> ChosenTerms {
        let choice = try asking.choice(for: head)
        chosen = choice
        return choice
    }
}

// MARK: - Making an access

extension Access {
    /// The access of a request that is about to be sent, or answered without. Throws if choosing the proxy does.
    init(of request: TransportRequest, _ asking: Asking) throws {
        let jar = asking.jar
        let number = jar?.number
        let head = jar?.completing(request).head ?? request.head
        let setup = ConnectionSetup(chosen: try asking.choice(for: head), policies: asking.policies)
        self.init(
            request: request, user: asking.user(of: request, head, setup), head: head,
            rules: asking.rules(of: head.origin, setup), network: asking.network(of: head.origin), setup: setup,
            jar: number, secretFields: asking.chain.settings.cacheRules.secretFields,
            refusal: asking.connectionRules?.guardRules?.refusal(of: head.origin, through: setup.chosen.terms?.proxy))
    }

    /// What an answer shows about an access.
    enum Confirmation {
        /// It is for the one who asked, and of what was asked for.
        case confirmed
        /// It is for another user, or came over a connection that another had made.
        case otherUser
        /// An interceptor around the exchange sent the request to another origin, target or Host, or by another method.
        case elsewhere
    }

    /// Whether an answer is still for the one who asked: the signs have not changed, and the connection was made under
    /// them. The jar may have got its first cookie before the request was sent, or have become another user's. `sent`
    /// is nil if that is the request itself.
    func confirmation(over hop: HTTP.Hop, sent: RequestHead?, _ asking: Asking) -> Confirmation {
        var head = head
        if let sent { head.fields["cookie"] = sent.fields["cookie"] }
        let current = ConnectionSetup(chosen: setup.chosen, policies: asking.policies)
        let isSame =
            jar == asking.jar?.number && user == asking.user(of: request, head, current)
            && hop.isOver(setup.policies, through: setup.chosen.terms?.proxy)
        if !isSame { return .otherUser }
        return sent.map { isElsewhere($0, asking) } == true ? .elsewhere : .confirmed
    }

    /// A transport around the session's own may send elsewhere: it counts among the terms.
    private func isElsewhere(_ sent: RequestHead, _ asking: Asking) -> Bool {
        let request = request.head
        return
            (sent.method != request.method || sent.target != request.target
            || !sent.origin.isSame(as: request.origin) || CacheKey.ownHost(of: sent) != CacheKey.ownHost(of: request))
            && !asking.session.configuration.interceptors.contains { $0.outerTransport != nil }
    }

    /// Who would ask the same again after an answer that gave the jar its first cookies for the request: a first visit
    /// often brings a page made for the cookie that comes with it. Nil for the one who asked.
    func asker(after answer: ResponseHead, _ asking: Asking) -> CacheAsker? {
        guard answer.fields.contains("set-cookie"), let jar = asking.jar else { return nil }
        let own = request.head.fields.values(of: "cookie")
        if CookieField.added(to: own, in: head.fields["cookie"]) != nil { return nil }
        let head = jar.completing(request).head
        return asker(asking.user(of: request, head, ConnectionSetup(chosen: setup.chosen, policies: asking.policies)))
    }
}

extension Sending {
    /// The access of a request. The way is chosen once for each hop: whoever judges it first chooses it.
    mutating func access(to request: TransportRequest) throws -> Access {
        var asking = asking
        asking.chosen = try asking.choice(for: request.head)
        chosen = asking.chosen
        return try Access(of: request, asking)
    }

    func confirmation(of access: Access, over hop: HTTP.Hop) -> Access.Confirmation {
        access.confirmation(over: hop, sent: sent?.head, asking)
    }
}

// MARK: - Who asks

extension Asking {
    /// The user of a request with this head. `jarCounts` says that the jar counts even if it added no cookies to it.
    func user(
        of request: TransportRequest, _ head: RequestHead, _ setup: Access.ConnectionSetup, jarCounts: Bool = false
    ) -> Access.User {
        var (added, always): ([Access.Sign], [Access.Sign]) = ([], [])
        for stage in chain.authentication { added += stage.signs(of: request, for: self) }
        if let jar, jarCounts || head.fields.contains("cookie") {
            let added = CookieField.added(to: request.head.fields.values(of: "cookie"), in: head.fields["cookie"])
            if jarCounts || added != nil { always.append(session.user.sign(jar)) }
        }
        // Handlers are asked for certificates, too.
        if head.origin.scheme == .https, options?.authenticationHandler != nil { always.append(.unknown) }
        if let proxy = setup.chosen.terms?.proxy {
            if let credentials = proxy.credentials {
                always.append(.proxy(proxy.description, user: credentials.user, password: credentials.password))
            }
            if proxy.scheme == .https, let key = setup.policies.proxies.identityKey { always.append(.certificate(key)) }
        }
        addSigns(ofSessionFor: head, setup, to: &always)
        return Access.User(
            added: added, always: always, hasOwnAuthorization: head.fields.contains("authorization"))
    }

    /// The signs of who asks that only the session has.
    private func addSigns(
        ofSessionFor head: RequestHead, _ setup: Access.ConnectionSetup, to signs: inout [Access.Sign]
    ) {
        if isBeforeInterceptors, let passed = chain.callInterceptors.passed(in: session) {
            signs.append(session.user.sign(.interceptors, part: "calls \(passed)"))
        }
        if let passed = chain.exchangeInterceptors.passed(in: session) {
            // Turning the cache off for a request says that the caller's own code knows who asks.
            let isOwn = (options?.cacheMode ?? .session).resolved(.standard) ?? .off == .off
            signs.append(isOwn ? .unknown : session.user.sign(.interceptors, part: passed))
        }
        guard head.origin.scheme == .https else { return }
        if setup.policies.origins.setup.hook != nil { signs.append(session.user.sign(.handler)) }
        if let key = setup.policies.origins.identityKey { signs.append(.certificate(key)) }
    }
}

// MARK: - Under which terms

extension Asking {
    /// The terms, as text.
    func rules(of origin: HTTP.Origin, _ setup: Access.ConnectionSetup) -> String {
        var rules = ""
        // Only a proxy that is asked in place of the origin can answer for it.
        if origin.scheme != .https, let proxy = setup.chosen.terms?.proxy {
            rules += " by \(proxy)" + (proxy.scheme == .https ? trust(setup.policies.proxies.setup) : "")
        }
        let (own, usual) = (connectionRules, chain.settings.builder.connectionRules)
        rules += (own === usual ? chain.settings.guardName : Access.name(of: own?.guardRules)) ?? ""
        if let code = session.routeCode { rules += " over \(code)" }
        return origin.scheme == .https ? rules + trust(setup.policies.origins.setup) : rules
    }

    func network(of origin: HTTP.Origin) -> String {
        origin.isRouted ? Access.network(of: session.configuration, origin.route) : session.network
    }

    private func trust(_ setup: SessionTLSPolicy.Setup) -> String {
        var terms = setup.trustName.isEmpty ? "" : " trust \(setup.trustName)"
        // The handler may have trusted a server that others would not.
        if setup.hook != nil { terms += " " + session.user.trust }
        return terms
    }
}
