import HTTPTypes

extension HTTPFields {
    /// The fields that are passed on. The others are for one connection:
    /// those that Connection names, and those that always are
    /// (RFC 9110 §7.6.1).
    var endToEnd: HTTPFields {
        let named = self[values: .connection].flatMap { value in
            value.lowercased().split { ", \t".contains($0) }
                .map(String.init)
        }
        let dropped = Self.ofOneConnection.union(named)
        return filter { !dropped.contains($0.name.canonicalName) }
    }

    private static let ofOneConnection: Set = [
        "connection", "keep-alive", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}
