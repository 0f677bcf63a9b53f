internal import DunlinTypes

/// Which fields of a response are stored, and which of a later one replace them (RFC 9111 §3.1 and §3.2).
enum StoredFields {
    /// Returns the fields without those of the connection and of the proxy, and those that `no-cache` names. A missing
    /// or invalid Date is replaced by the time of arrival (RFC 9110 §6.6.1).
    static func stored(of fields: Fields, _ directives: ResponseDirectives, receivedAt: Int64) -> Fields {
        dated(fields, directives, receivedAt: receivedAt).fields
    }

    /// The same, with what their Date says.
    static func dated(
        _ fields: Fields, _ directives: ResponseDirectives, receivedAt: Int64
    ) -> (fields: Fields, date: Int64) {
        let others = (named(by: fields) + directives.unstoredFields).filter {
            !ofConnection.contains($0) && !ofCaching.contains($0)
        }
        var stored = fields.without(others.isEmpty ? ofConnection : ofConnection + others)
        if let date = Freshness.date(stored) { return (stored, date) }
        let date = HTTPDate(seconds: receivedAt)
        stored["Date"] = date.description
        return (stored, date.seconds)
    }

    private static let keepAlive = Bytes("keep-alive")

    /// The names in Connection. It mostly names one of its own, and then no text is made of it.
    private static func named(by fields: Fields) -> [String] {
        let values = fields.rawValues(of: "connection")
        if values.allSatisfy({ $0 == keepAlive }) { return [] }
        return values.flatMap { FieldNames.all(in: $0) ?? [] }
    }

    /// Returns a stored response's fields after a newer 304 or HEAD has confirmed it. Fields about the stored body's
    /// coding and extent stay. The old Age is dropped. A part of the body (`isPart`) has its own digests.
    static func updated(_ fields: Fields, by newer: Fields, receivedAt: Int64, isPart: Bool = false) -> Fields {
        let stored = stored(of: newer, ResponseDirectives(newer), receivedAt: receivedAt)
        let kept = fields.filtered { $0 != "age" }
        return kept.overlaid(with: stored.filtered { !ofBody.contains($0) && !(isPart && ofContent.contains($0)) })
    }

    /// Content-Digest is about the content of one message (RFC 9530 §2): a 304 and an answer to HEAD have none.
    static let ofBody: Set<String> = ["content-length", "content-encoding", "content-range", "content-digest"]

    /// The fields about the content of one message: those of a part do not apply to the whole or another part.
    /// Repr-Digest is about the whole (RFC 9530 §3).
    static let ofContent: Set<String> = [
        "content-length", "content-range", "content-digest", "content-md5", "digest",
    ]

    private static let ofConnection = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization",
    ]

    /// The fields that caches use, which are for all recipients: a Connection field that names one is wrong (RFC 9110
    /// §7.6.1).
    private static let ofCaching = [
        "cache-control", "expires", "date", "age", "vary", "etag", "last-modified",
    ]
}
