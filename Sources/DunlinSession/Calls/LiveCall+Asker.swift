internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// What is known of who asks, before an exchange; it must be the same when it is answered. Meanwhile a handler may name
/// another user, and another identity may secure connections.
package final class Asking: Sendable {
    fileprivate let original: TransportRequest
    /// The original head with the jar's cookies.
    fileprivate let head: RequestHead
    fileprivate let user: Access.User
    fileprivate let policies: Access.Policies
    /// The jar's number; nil without a jar.
    fileprivate let jar: String?
    /// Whether something was sent that says who asks, perhaps before a redirect.
    private let named = Atomic(false)

    fileprivate init(
        _ original: TransportRequest, completedTo head: RequestHead, _ user: Access.User, _ policies: Access.Policies,
        jar: String?
    ) {
        (self.original, self.head, self.user, self.policies, self.jar) = (original, head, user, policies, jar)
    }

    /// Notes an exchange of the request.
    func noteSent(_ head: RequestHead, hiding secretFields: HTTP.SecretFields) {
        if CredentialFields.areNamed(head.fields, secretFields) { named.store(true, ordering: .relaxed) }
    }

    fileprivate var wasNamed: Bool { named.load(ordering: .relaxed) }
}

/// Who asked for a response of which a part is kept, to be completed later: the signs and terms as in `Access`, the
/// request's own secret fields, its own Host (which names another resource), and the address given for its host (where
/// another server may be). Of cookies that the jar added only the jar counts, because servers change their values with
/// each response; a Cookie of the request's own counts with its value. If only a handler knows the user, the
/// credentials that it sent identify the user.
extension LiveCall {
    /// Notes who asks, before an exchange. `original` is the request as it was first made.
    package mutating func noteAsking(for original: TransportRequest) {
        let policies = policies
        let jar = chain.cookies(for: delegate)
        let number = jar?.number
        let head = jar?.completing(original).head ?? original.head
        asking = Asking(original, completedTo: head, user(of: original, head, nil, policies), policies, jar: number)
    }

    /// A text that is the same for the same user and for nobody else; after a redirect, for who asked first and who
    /// asked where it led. It may contain secrets. It is unique if nothing was noted for the request, or if its user
    /// changed on the way.
    package func asker(over hop: HTTP.Hop) -> String {
        // A named user is the same with and without cookies.
        asker(over: hop, jarCounts: session.user.isNamed)
    }

    /// The same text, in which the jar counts even where it added no cookies; nil without a jar. So it stays the same
    /// when a server sets the jar's first cookie, or removes its last.
    package func askerWithJar(over hop: HTTP.Hop) -> String? {
        chain.cookies(for: delegate).map { _ in asker(over: hop, jarCounts: true) }
    }

    private func asker(over hop: HTTP.Hop, jarCounts: Bool) -> String {
        guard let asking, isStill(asking, over: hop) else { return "unknown " + UniqueNumber.next() }
        var signs = signs(of: request, sentAs: (sent ?? request).head, jarCounts) + way(of: request, over: hop, asking)
        if let first = callHistory?.hops.first, callHistory?.redirects.isEmpty == false {
            signs += [""] + self.signs(of: asking.original, sentAs: asking.head, jarCounts)
            signs += way(of: asking.original, over: first, asking)
        }
        for proxy in proxies(upTo: hop) {
            signs += ["proxy", proxy.description, proxy.credentials?.user ?? "", proxy.credentials?.password ?? ""]
        }
        // Each with its length, so that different lists give different texts.
        // A known password is not sent before a server asks for it: what came before that is nobody's.
        signs.append(asking.wasNamed ? "named" : "not named")
        return signs.map { "\($0.utf8.count):\($0)" }.joined()
    }

    /// What may determine which server answers, as it was for `hop`.
    private func way(of request: TransportRequest, over hop: HTTP.Hop, _ asking: Asking) -> [String] {
        let address = request.head.origin.route?.address.map { "\($0)" } ?? ""
        // Whoever changes the network has the same file of the same origin.
        return [address, terms(of: request, hop.proxyAddress, asking.policies, withNetwork: false)]
    }

    private func isStill(_ asking: Asking, over hop: HTTP.Hop) -> Bool {
        asking.jar == chain.cookies(for: delegate)?.number
            && asking.user == user(of: asking.original, asking.head, nil, policies)
            && ((callHistory?.hops ?? []) + [hop]).allSatisfy { $0.isOver(asking.policies) }
    }

    /// The proxies that know us, in the order of the hops.
    private func proxies(upTo hop: HTTP.Hop) -> [ProxyAddress] {
        var proxies: [ProxyAddress] = []
        for hop in (callHistory?.hops ?? []) + [hop] {
            guard let proxy = hop.proxyAddress, proxies.last != proxy else { continue }
            if proxy.credentials != nil || proxy.scheme == .https { proxies.append(proxy) }
        }
        return proxies
    }

    private func signs(of request: TransportRequest, sentAs sent: RequestHead, _ jarCounts: Bool) -> [String] {
        let fields = request.head.fields
        let own =
            CredentialFields.names(in: fields, session.configuration.secretFields).sorted().flatMap { name in
                [name] + fields.values(of: name)
            } + fields.values(of: "host") + fields.values(of: "cookie").map { "cookie \($0)" }
        var completed = request.head
        completed.fields["cookie"] = sent.fields["cookie"]
        switch user(of: request, completed, nil, policies, jarCounts: jarCounts) {
        case .nobody: return ["nobody"] + own
        case .known(let name): return ["known", name.string] + own + byHandler(sent)
        case .unknown:
            let user = Self.user(sentAs: sent) ?? "\(session.user.number) \(delegate.id)"
            return ["unknown", user] + own + added(in: sent)
        }
    }

    /// The secrets that the caller's own code added on the way, other than signatures, which are of one request.
    private func added(in sent: RequestHead) -> [String] {
        CredentialFields.names(in: sent.fields, session.configuration.secretFields).sorted().flatMap { name in
            let isOfOneRequest = ["signature", "hmac", "nonce", "csrf", "xsrf", "timestamp", "date", "security-token"]
                .contains { name.contains($0) }
            return name == "authorization" || isOfOneRequest ? [] : [name] + sent.fields.values(of: name)
        }
    }

    /// The user that a session's handler named by a password: it may name another at any challenge. A token does not
    /// identify a lasting user.
    private func byHandler(_ sent: RequestHead) -> [String] {
        guard session.configuration.authenticationHandler != nil, let value = sent.fields["authorization"],
            ["basic", "digest"].contains(Self.scheme(of: value)), let user = Self.user(sentAs: sent)
        else { return [] }
        return [user]
    }

    /// The user named in the credentials sent: all of them, but for Digest only the user name, since the rest belongs
    /// to one request, and for the signatures of clouds only the key's. Nil for nobody, and if all of the value may
    /// belong to one request alone: then it is this call's user.
    private static func user(sentAs head: RequestHead) -> String? {
        guard let value = head.fields["authorization"] else { return nil }
        switch scheme(of: value) {
        case "basic", "bearer": return value
        case "digest": return value.firstRange(of: ", realm=").map { String(value[..<$0.lowerBound]) }
        case "aws", "sharedkey", "sharedkeylite", "oss", "obs":
            return value.parts(at: UInt8(ascii: ":")).first.map(String.init)
        case "negotiate", "ntlm", "kerberos", "hmac", "signature": return nil
        default:
            // A token may end in `=`; parameters may be a signature's.
            let padding = value.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
            return value.utf8.dropLast(padding).contains { ",=".utf8.contains($0) } ? nil : value
        }
    }

    /// The scheme in lower case; empty for a value without one.
    private static func scheme(of value: String) -> String {
        value.utf8.firstIndex(of: UInt8(ascii: " ")).map { value[..<$0].lowercased() } ?? ""
    }
}
