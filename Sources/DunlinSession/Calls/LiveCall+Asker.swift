internal import DunlinSemantics
internal import DunlinTransport

/// What is known of who asks before an exchange, and must be so when it is answered: a handler may say another user
/// meanwhile, and another identity may secure connections.
package final class Asking: Sendable {
    fileprivate let original: TransportRequest
    fileprivate let user: Access.User
    fileprivate let policies: Access.Policies

    fileprivate init(_ original: TransportRequest, _ user: Access.User, _ policies: Access.Policies) {
        (self.original, self.user, self.policies) = (original, user, policies)
    }
}

/// Who asked for a response of which somebody keeps a part, to add more to it later: what says who asks and on which
/// terms, as for `Access`, the secret fields that the request has itself, its own Host, by which it asks for another
/// resource, and the address that was given for its host, where another server may be.
/// Cookies do not count: servers change them with each response. Where only a handler knows the user, what it had sent
/// says who that was.
extension LiveCall {
    /// Notes who asks, before an exchange. `original` is the request as it is asked for first.
    package mutating func noteAsking(for original: TransportRequest) {
        let policies = policies
        asking = Asking(original, user(of: original, original.head, nil, policies), policies)
    }

    /// A text that is the same for the same user, and for nobody else; after a redirect, for who asked first and who
    /// asked where it led. It may have secrets in it. Of a request for which nothing was noted, or whose user changed
    /// on its way, it is like no other.
    package func asker(over hop: HTTP.Hop) -> String {
        guard let asking, isStill(asking, over: hop) else { return "unknown " + SessionUser.newNumber() }
        var signs = signs(of: request, sentAs: sent ?? request) + way(of: request, over: hop, asking)
        if let first = callHistory?.hops.first, callHistory?.redirects.isEmpty == false {
            signs += [""] + self.signs(of: asking.original, sentAs: asking.original)
            signs += way(of: asking.original, over: first, asking)
        }
        for proxy in proxies(upTo: hop) {
            signs += ["proxy", proxy.description, proxy.credentials?.user ?? "", proxy.credentials?.password ?? ""]
        }
        // Each with its length, so that no two lists are one text.
        return signs.map { "\($0.utf8.count):\($0)" }.joined()
    }

    /// What may decide which server answers, as it was for `hop`.
    private func way(of request: TransportRequest, over hop: HTTP.Hop, _ asking: Asking) -> [String] {
        let address = request.head.origin.route?.address.map { "\($0)" } ?? ""
        return [address, terms(of: request, hop.proxyAddress, asking.policies)]
    }

    private func isStill(_ asking: Asking, over hop: HTTP.Hop) -> Bool {
        asking.user == user(of: asking.original, asking.original.head, nil, policies)
            && ((callHistory?.hops ?? []) + [hop]).allSatisfy { $0.isOver(asking.policies) }
    }

    /// Those that know us, in the order of the hops.
    private func proxies(upTo hop: HTTP.Hop) -> [ProxyAddress] {
        var proxies: [ProxyAddress] = []
        for hop in (callHistory?.hops ?? []) + [hop] {
            guard let proxy = hop.proxyAddress, proxies.last != proxy else { continue }
            if proxy.credentials != nil || proxy.scheme == .https { proxies.append(proxy) }
        }
        return proxies
    }

    private func signs(of request: TransportRequest, sentAs sent: TransportRequest) -> [String] {
        let fields = request.head.fields
        let own =
            CredentialFields.names(in: fields, session.configuration.secretFields).sorted().flatMap { name in
                [name] + fields.values(of: name)
            } + fields.values(of: "host")
        switch user(of: request, request.head, nil, policies) {
        case .nobody: return ["nobody"] + own
        case .known(let name): return ["known", name] + own + byHandler(sent)
        case .unknown: return ["unknown", Self.user(sentAs: sent) ?? "\(session.user.number) \(delegate.id)"] + own
        }
    }

    /// A session's handler may say another user at any challenge. A token says no user that lasts.
    private func byHandler(_ sent: TransportRequest) -> [String] {
        guard session.configuration.authenticationHandler != nil, let user = Self.user(sentAs: sent),
            !user.hasPrefix("Bearer ")
        else { return [] }
        return [user]
    }

    /// Of Digest the user's name counts, since the rest is of one request. Nil for nobody, and where the value may be
    /// of one request alone, such as a signature: then it is this call's user.
    private static func user(sentAs request: TransportRequest) -> String? {
        guard let value = request.head.fields["authorization"] else { return nil }
        if value.hasPrefix("Basic ") || value.hasPrefix("Bearer ") { return value }
        guard value.hasPrefix("Digest "), let end = value.firstRange(of: ", realm=") else { return nil }
        return String(value[..<end.lowerBound])
    }
}
