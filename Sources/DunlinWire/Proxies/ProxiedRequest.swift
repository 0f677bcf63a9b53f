package import DunlinTypes

/// What is sent to a proxy instead of a request's own head.
///
/// Rules:
/// 1. CONNECT names host and port and has the proxy's own fields, nothing of the request's: those are the origin's, and
///    go through the tunnel.
/// 2. A request in clear text goes in absolute form (RFC 9112 §3.2.2): scheme and authority stand before the target,
///    and alone where an OPTIONS asks for `*` (§3.2.4). The caller's fields go along.
/// 3. A proxy goes by that authority and not by Host (§3.2.2). So a caller's own Host that says something else is an
///    error here, instead of a request that goes elsewhere than asked.
/// 4. A caller's own Proxy-Authorization and Proxy-Connection are never sent: the first is the proxy's secret, of which
///    its own credentials are the only source, and goes on to the origin where there is no proxy after all. The second
///    is no field of HTTP (RFC 9112 §C.2.2).
package enum ProxiedRequest {
    package enum Problem: Error, Sendable, Hashable {
        /// A request for https goes through a tunnel.
        case notClearText
        /// The Host field is not the origin's authority.
        case hostOfAnother
        /// The target is in no form that has an absolute one.
        case invalidTarget
    }

    /// The head that asks for a tunnel to an origin. `authorization` is the field's value, and `fields` are what the
    /// settings say to tell this proxy.
    package static func connect(
        to origin: HTTP.Origin, authorization: String? = nil, fields: Fields = Fields()
    ) -> RequestHead {
        let host = origin.host.utf8.contains(UInt8(ascii: ":")) ? "[\(origin.host)]" : origin.host
        return RequestHead(
            method: .connect, origin: origin, target: "\(host):\(origin.port)",
            fields: withAuthorization(authorization, fields))
    }

    /// The head in absolute form, with the same fields and those for the proxy, which may hand the latter on.
    package static func absolute(
        _ head: RequestHead, authorization: String? = nil, fields: Fields = Fields()
    ) throws(Problem) -> RequestHead {
        guard head.origin.scheme == .http else { throw .notClearText }
        let authority = head.origin.authority
        let hosts = head.fields.values(of: "Host")
        // The encoder has its say about several of them.
        guard hosts.allSatisfy({ isSame($0, authority, of: head.origin) }) else { throw .hostOfAnother }
        var proxied = head
        if head.target == "*", head.method == .options {
            proxied.target = "http://\(authority)"
        } else if head.target.utf8.first == UInt8(ascii: "/") {
            proxied.target = "http://\(authority)\(head.target)"
        } else {
            throw .invalidTarget
        }
        // Prepared fields stay prepared where nothing changes.
        guard hasOwn(head.fields) || authorization != nil || !fields.isEmpty else { return proxied }
        proxied.fields = forOrigin(head.fields)
        proxied.fields.append(contentsOf: withAuthorization(authorization, fields))
        return proxied
    }

    /// The fields without those that are for proxies alone: what goes to an origin, directly or through a tunnel.
    package static func forOrigin(_ fields: Fields) -> Fields {
        guard hasOwn(fields) else { return fields }
        var own = fields
        for name in proxyFields { own.remove(name) }
        return own
    }

    /// Whether there is a field that is for proxies alone.
    package static func hasOwn(_ fields: Fields) -> Bool { proxyFields.contains { fields.contains($0) } }

    private static let proxyFields = ["Proxy-Authorization", "Proxy-Connection"]

    private static func withAuthorization(_ authorization: String?, _ fields: Fields) -> Fields {
        var fields = forOrigin(fields)
        if let authorization { fields.append(name: "Proxy-Authorization", value: authorization, sensitive: true) }
        return fields
    }

    /// A default port may be spelled out, and case means nothing.
    private static func isSame(_ host: String, _ authority: String, of origin: HTTP.Origin) -> Bool {
        let host = host.lowercased()
        return host == authority.lowercased() || host == "\(authority.lowercased()):\(origin.port)"
    }
}

extension ProxiedRequest.Problem: CustomStringConvertible {
    /// Half a sentence.
    package var description: String {
        switch self {
        case .notClearText: "a request for https needs a tunnel through the proxy"
        case .hostOfAnother: "the Host field names another host than the URL, by which a proxy goes"
        case .invalidTarget: "the target is neither a path nor * for OPTIONS, so it has no absolute form"
        }
    }
}
