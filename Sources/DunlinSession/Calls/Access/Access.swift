internal import DunlinSecure
internal import DunlinSemantics
internal import DunlinTransport

/// Who asks, where the request may go, and what may be kept of its answer, for one hop, before anything is sent.
///
/// Its initializer makes it and `confirmation` confirms it when the answer comes; nothing else does. Whatever is kept
/// or shared goes by it: a cache, those who share an exchange, a file, a picture. None of them examines fields to find
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
    /// The terms as text, without the network; empty for the usual ones.
    let rules: String
    /// From which network it is asked, as text; empty for any.
    let network: String
    /// The way by which it will be sent.
    let setup: ConnectionSetup
    /// The number of the jar whose cookies it is sent with; nil without a jar.
    let jar: String?
    /// The names of fields that say who asks.
    let secretFields: HTTP.SecretFields
    /// Why the request may not go to its destination, as far as is known before a name is looked up; nil if it may.
    let refusal: GuardRefusal?

    /// Whether an answer may be kept and shared with requests of the same user.
    var isKept: Bool { user != .unknown }

    var terms: String { network.isEmpty ? rules : rules + network }

    var asker: CacheAsker { asker(user) }

    /// A `Cookie` of the request's own tells who asks, as a secret field does.
    func asker(_ user: User) -> CacheAsker {
        var cookies = ""
        if request.head.fields.contains("cookie") {
            cookies = request.head.fields.values(of: "cookie").map { "cookie \($0.utf8.count):\($0)" }.joined()
        }
        guard case .known(let name) = user else {
            return CacheAsker(user: cookies, terms: terms, fields: head.fields, hiding: secretFields)
        }
        return CacheAsker(user: cookies + name.string, terms: terms, fields: head.fields, hiding: secretFields)
    }
}

extension Access.User {
    /// Creates an access. `added` are the signs that stages add, and `always` those of the way.
    init(added: [Access.Sign], always: [Access.Sign], hasOwnAuthorization: @autoclosure () -> Bool) {
        let signs = added.isEmpty || hasOwnAuthorization() ? always : added + always
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

extension HTTP.Hop {
    /// Whether the connection was made under these policies. A custom transport does not say; it counts as yes.
    func isOver(_ policies: Access.Policies) -> Bool {
        guard let making = peerReference?.making else { return true }
        return making.tlsGeneration ?? policies.origins.tlsGeneration == policies.origins.tlsGeneration
            && making.proxyTLSGeneration ?? policies.proxies.tlsGeneration == policies.proxies.tlsGeneration
    }

    /// The proxy that the connection went through, with its credentials.
    var proxyAddress: ProxyAddress? { (peerReference?.making.terms as? ConnectionTerms)?.proxy }

    func isOver(_ policies: Access.Policies, through proxy: ProxyAddress?) -> Bool {
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
