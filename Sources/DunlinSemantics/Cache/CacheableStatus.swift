package import DunlinTypes

/// Which statuses a cache may store, and why (RFC 9111 §3 and §4.2.2, RFC 9110 §15.1).
extension HTTP.Status {
    /// Whether a response may be stored, and be fresh for a while, though it says nothing of either.
    package var isHeuristicallyCacheable: Bool {
        switch code {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether a cache knows all that this status asks of caches: those of RFC 9110 which end a request, without the
    /// two that have no body of their own to store, 206 and 304.
    package var isUnderstoodByCaches: Bool {
        switch code {
        case 200...205, 300...303, 305, 307, 308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// An answer by which an origin fails (RFC 5861 §4).
    package var isOriginFailure: Bool {
        switch code {
        case 500, 502, 503, 504: true
        default: false
        }
    }
}
