package import DunlinTypes

/// Which statuses a cache may store, and why (RFC 9111 §3 and §4.2.2, RFC 9110 §15.1).
extension HTTP.Status {
    /// Whether a response may be stored, and be fresh for a while, without explicit permission.
    package var isHeuristicallyCacheable: Bool {
        switch code {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether a cache knows this status's demands: those of RFC 9110 that end a request, except 206 and 304, which
    /// have no body of their own to store.
    package var isUnderstoodByCaches: Bool {
        switch code {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// Whether it asks for credentials. Such a response is never stored, whatever its freshness, as nobody could answer
    /// it then.
    var isChallenge: Bool { self == .unauthorized || code == 407 }

    /// Whether it is a failure of the origin (RFC 5861 §4).
    var isOriginFailure: Bool {
        switch code {
        case 500, 502, 503, 504: true
        default: false
        }
    }
}
