package import DunlinTypes

/// The fields of a request that identify its sender: all that are hidden when printed, as a secret is somebody's, and
/// those by which gateways say who the user is.
package enum CredentialFields {
    /// The usual fields that hold no secrets, those of nearly all requests first. Searching a name for signs of a
    /// secret takes too long for a response from memory.
    private static let harmless = [
        "user-agent", "accept-encoding", "accept", "accept-language", "cache-control", "content-length", "content-type",
        "host", "if-modified-since", "if-none-match", "if-range", "pragma", "range",
    ]

    /// Words of names that say who the user is, such as `X-Forwarded-User`, `Impersonate-User` or `X-Act-As`. A word
    /// too many has a response asked for once more; one that is missing gives one user's page to another.
    private static let ofUsers: Set<Substring> = [
        "user", "users", "username", "userid", "uid", "email", "mail", "from", "login", "logname", "principal",
        "subject", "sub", "identity", "ident", "person", "persona", "profile", "member", "employee", "patient",
        "student", "contact", "viewer", "owner", "caller", "requester", "requestor", "sender", "initiator",
        // On whose behalf.
        "as", "behalf", "sudo", "impersonate", "impersonated", "impersonator", "delegate", "delegated", "actor",
        // In what part.
        "role", "roles", "group", "groups", "team", "scope", "permissions", "grade", "plan",
        // Of which organisation.
        "consumer", "tenant", "tenantid", "account", "accountid", "customer", "customerid", "client", "clientid",
        "org", "orgid", "organization", "organisation", "company", "workspace", "project", "subscription",
        "subscriber", "partner", "merchant", "vendor", "reseller", "namespace", "realm", "domain", "site", "shop",
        // By what certificate or machine.
        "cert", "dn", "cn", "device", "deviceid",
    ]

    /// The ends of names that say which request it is, and nothing of the user: `X-Client-Request-ID`.
    private static let ofRequests = [
        "request-id", "requestid", "trace-id", "traceid", "correlation-id", "-trace", "traceparent", "tracestate",
    ]

    /// Whether the name, in lower case, is of a field that says which request it is.
    package static func isOfRequest(_ name: String) -> Bool { ofRequests.contains(where: name.hasSuffix) }

    private static func saysUser(_ name: String) -> Bool {
        // What a browser says of the page (`Sec-Fetch-Site`) and of itself (`Sec-CH-UA`).
        if name.hasPrefix("sec-") || isOfRequest(name) || name.hasSuffix("-version") { return false }
        return name.parts(at: UInt8(ascii: "-")).contains { part in
            part.parts(at: UInt8(ascii: "_")).contains { ofUsers.contains($0) }
        }
    }

    /// Whether a request with these fields says who asks.
    package static func areNamed(_ fields: Fields, _ secret: HTTP.SecretFields) -> Bool {
        fields.contains("authorization") || !names(in: fields, secret).isEmpty
    }

    /// Returns their names, in lower case, each once, without cookies, which Vary must name.
    package static func names(in fields: Fields, _ secret: HTTP.SecretFields) -> [String] {
        // So it is with most requests, and then no text is made of any name.
        if fields.areAll(among: harmless) { return [] }
        var names: [String] = []
        for field in fields {
            let name = field.name.lowercased()
            if name == "cookie" || names.contains(name) { continue }
            let says =
                harmless.contains(name)
                ? fields.isSensitive(name) : fields.holdsSecret(name, secret) || saysUser(name)
            if says { names.append(name) }
        }
        return names
    }
}
