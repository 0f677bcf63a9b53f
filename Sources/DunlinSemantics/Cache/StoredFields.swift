internal import DunlinTypes

/// Which fields of a response are stored, and which of a later one replace them (RFC 9111 §3.1 and §3.2).
enum StoredFields {
    /// Without those of the connection and of the proxy, and those that `no-cache` names. A Date that is missing or
    /// none is replaced by when the response came (RFC 9110 §6.6.1).
    static func stored(of fields: Fields, _ directives: ResponseDirectives, receivedAt: Int64) -> Fields {
        let named = Set(fields.rawValues(of: "connection").flatMap { FieldNames.all(in: $0) ?? [] })
        var stored = fields.filtered { name in
            if ofCaching.contains(name) { return true }
            return !ofConnection.contains(name) && !named.contains(name) && !directives.unstoredFields.contains(name)
        }
        if Freshness.date(stored) == nil { stored["Date"] = HTTPDate(seconds: receivedAt).description }
        return stored
    }

    /// Fields of a stored response after a newer one, a 304 or that of a HEAD, has confirmed it. Those that speak of
    /// how the stored body is coded and how much of it there is stay. An Age was that of the old response.
    static func updated(_ fields: Fields, by newer: Fields, receivedAt: Int64) -> Fields {
        let stored = stored(of: newer, ResponseDirectives(newer), receivedAt: receivedAt)
        let kept = fields.filtered { $0 != "age" }
        return kept.overlaid(with: stored.filtered { !ofBody.contains($0) })
    }

    static let ofBody: Set<String> = ["content-length", "content-encoding", "content-range"]

    private static let ofConnection: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization",
    ]

    /// What a cache goes by is for all recipients: a Connection field that names it is wrong (RFC 9110 §7.6.1).
    private static let ofCaching: Set<String> = [
        "cache-control", "expires", "date", "age", "vary", "etag", "last-modified",
    ]
}
