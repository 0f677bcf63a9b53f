public import DunlinTypes

/// How a response's body ends, and what becomes of the connection then.
public struct MessageFraming: Sendable, Hashable {
    public var body: BodyFraming
    /// Another request may follow on the connection, once this body has been read to its end.
    ///
    /// Bytes beyond the end (see `BodyStep.end`) forbid it too: nobody asked for them.
    public var canReuse: Bool
    /// For how many idle seconds the server said it keeps the connection (`Keep-Alive: timeout=5`).
    public var keepAliveTimeout: Int?

    public init(body: BodyFraming, canReuse: Bool, keepAliveTimeout: Int? = nil) {
        self.body = body
        self.canReuse = canReuse
        self.keepAliveTimeout = keepAliveTimeout
    }
}

/// Where a body ends (RFC 9112 §6.3).
public enum BodyFraming: Sendable, Hashable {
    case none
    case length(Int)
    case chunked
    /// The body is all that comes; the end of the stream is its end.
    case untilClose
    /// What follows the head is no HTTP: a 101, or a 2xx to CONNECT.
    case upgrade
}

/// The rules of RFC 9112 §6.3, in their order:
///
/// 1. HEAD, 1xx, 204 and 304 have no body, whatever their fields say; fields that make no sense there end the
///    connection's use.
/// 2. 101 and a 2xx to CONNECT end HTTP on this connection.
/// 3. Transfer-Encoding must be chunked, once, in HTTP/1.1. Beside a Content-Length it wins, and the connection is
///    not used again.
/// 4. Content-Length, if valid, and if repeated then equal.
/// 5. Else the body goes on until the connection closes. Only 205, which must have none (RFC 9110 §15.3.6), is taken
///    at its word; its connection is not used again.
extension ParsedHead {
    /// How the body of this response to a request of `method` ends; throws when the head leaves that in doubt.
    public func framing(for method: HTTP.Method) throws(WireError) -> MessageFraming {
        let body = try bodyFraming(for: method)
        return MessageFraming(
            body: body, canReuse: isPersistent && isTrusted(with: body), keepAliveTimeout: summary.keepAliveTimeout)
    }

    private func bodyFraming(for method: HTTP.Method) throws(WireError) -> BodyFraming {
        let code = head.status.code
        // Counting first keeps the comparison of strings off the common path.
        let nameCount = method.rawValue.utf8.count
        if code == 101 || (code / 100 == 2 && nameCount == 7 && method == .connect) { return .upgrade }
        if code / 100 == 1 || code == 204 || code == 304 || (nameCount == 4 && method == .head) { return .none }
        switch summary.coding {
        case .absent: return try lengthFraming(orNoneFor: code)
        case .chunked where head.version == .http10: throw .transferEncodingInHTTP10
        case .chunked: return .chunked
        case .none: throw .emptyTransferEncoding
        case .chunkedTwice: throw .repeatedChunkedCoding
        case .chunkedNotLast: throw .chunkedCodingNotLast
        case .unknown: throw .unknownTransferCoding
        }
    }

    private func lengthFraming(orNoneFor code: Int) throws(WireError) -> BodyFraming {
        switch summary.length {
        case .exactly(let count): return .length(count)
        case .conflicting: throw .conflictingContentLengths
        case .malformed: throw .invalidContentLength
        case .absent: return code == 205 ? .none : .untilClose
        }
    }

    private var isPersistent: Bool {
        !summary.saysClose && (head.version == .http11 || summary.saysKeepAlive)
    }

    /// Whether server and client surely agree on where this body ends.
    private func isTrusted(with body: BodyFraming) -> Bool {
        let code = head.status.code
        switch body {
        case .untilClose, .upgrade: return false
        case .length: return true
        case .chunked: return summary.length == .absent
        case .none where code == 205: return false
        case .none where code == 204 || code / 100 == 1:
            return summary.coding == .absent && (summary.length == .absent || summary.length == .exactly(0))
        case .none: return isBodilessSound
        }
    }

    /// HEAD and 304 may say what the body would have been; it must at least make sense.
    private var isBodilessSound: Bool {
        switch (summary.coding, summary.length) {
        case (.absent, .absent), (.absent, .exactly): true
        case (.chunked, .absent): head.version == .http11
        default: false
        }
    }
}
