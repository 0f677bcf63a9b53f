package import DunlinTypes

/// The heads that are sent to a proxy instead of a request's own.
///
/// Rules:
/// 1. CONNECT names host and port and has only fields for the proxy. The request's fields are for the origin and go
///    through the tunnel.
/// 2. A request in clear text uses absolute form (RFC 9112 §3.2.2): scheme and authority precede the target, and stand
///    alone for OPTIONS with `*` (§3.2.4). The caller's fields are sent with it.
/// 3. A proxy uses that authority and not Host (§3.2.2). So a caller's own Host that differs from it is an error,
///    because the request would go elsewhere.
/// 4. A caller's own Proxy-Authorization and Proxy-Connection are never sent. The first comes only from the proxy's
///    credentials, and would reach the origin if there were no proxy. The second is not a field of HTTP (RFC 9112
///    §C.2.2).
package enum ProxiedRequest {
    package enum Problem: Error, Sendable, Hashable {
        /// A request for https must go through a tunnel.
        case notClearText
        /// The Host field differs from the origin's authority.
        case hostOfAnother(String, authority: String)
        /// The target's form has no absolute equivalent.
        case invalidTarget
    }

    /// The head that asks for a tunnel to an origin. `authorization` is the field's value, and `fields` are the
    /// configured fields for this proxy.
    package static func connect(
        to origin: HTTP.Origin, authorization: String? = nil, fields: Fields = Fields()
    ) -> RequestHead {
        let host = origin.host.utf8.contains(UInt8(ascii: ":")) ? "[\(origin.host)]" : origin.host
        return RequestHead(
            method: .connect, origin: origin, target: "\(host):\(origin.port)",
            fields: withAuthorization(authorization, fields))
    }

    /// The head in absolute form, with the same fields and those for the proxy, which may pass the latter on.
    package static func absolute(
        _ head: RequestHead, authorization: String? = nil, fields: Fields = Fields()
    ) throws(Problem) -> RequestHead {
        guard head.origin.scheme == .http else { throw .notClearText }
        let authority = head.origin.authority
        let hosts = head.fields.values(of: "Host")
        // The encoder checks for several of them.
        if let other = hosts.first(where: { !isSame($0, authority, of: head.origin) }) {
            throw .hostOfAnother(other, authority: authority)
        }
        var proxied = head
        if head.target == "*", head.method == .options {
            proxied.target = "http://\(authority)"
        } else if head.target.utf8.first == UInt8(ascii: "/") {
            proxied.target = "http://\(authority)\(head.target)"
        } else {
            throw .invalidTarget
        }
        // Prepared fields stay prepared if nothing changes.
        guard hasOwn(head.fields) || authorization != nil || !fields.isEmpty else { return proxied }
        proxied.fields = forOrigin(head.fields)
        proxied.fields.append(contentsOf: withAuthorization(authorization, fields))
        return proxied
    }

    /// The fields without those for proxies only, for sending to an origin, directly or through a tunnel.
    package static func forOrigin(_ fields: Fields) -> Fields {
        guard hasOwn(fields) else { return fields }
        var own = fields
        for name in proxyFields { own.remove(name) }
        return own
    }

    /// Whether there is a field for proxies only.
    package static func hasOwn(_ fields: Fields) -> Bool { proxyFields.contains { fields.contains($0) } }

    private static let proxyFields = ["Proxy-Authorization", "Proxy-Connection"]

    private static func withAuthorization(_ authorization: String?, _ fields: Fields) -> Fields {
        var fields = forOrigin(fields)
        if let authorization { fields.append(name: "Proxy-Authorization", value: authorization, sensitive: true) }
        return fields
    }

    /// Whether a Host field names the authority; a default port may be included, and case is ignored.
    private static func isSame(_ host: String, _ authority: String, of origin: HTTP.Origin) -> Bool {
        let host = host.lowercased()
        return host == authority.lowercased() || host == "\(authority.lowercased()):\(origin.port)"
    }
}

extension ProxiedRequest.Problem: CustomStringConvertible {
    /// Half a sentence, for a larger one.
    package var description: String {
        switch self {
        case .notClearText: "a request for https can only be sent through a tunnel"
        case .hostOfAnother(let host, let authority):
            "the Host field is \(VisibleText.of(host, upTo: 255)), but a proxy sends the request to the URL's host, "
                + "\(authority); leave the field out"
        case .invalidTarget: "the target must begin with a slash, or be * for OPTIONS"
        }
    }
}
