public import DunlinTypes

/// How a response's body ends, and whether the connection can then be reused.
public struct MessageFraming: Sendable, Hashable {
    public var body: BodyFraming
    /// Whether another request may follow on the connection, once this body has been read to its end.
    ///
    /// Unrequested bytes after the end (see `BodyStep.end`) forbid it, too.
    public var canReuse: Bool
    /// How many idle seconds the server keeps the connection open, as it said (`Keep-Alive: timeout=5`).
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
    /// The body ends with the stream.
    case untilClose
    /// What follows the head is not HTTP: after a 101, or a 2xx to CONNECT.
    case upgrade
}

/// The rules of RFC 9112 §6.3, in their order:
///
/// 1. Responses to HEAD, and those with 1xx, 204 or 304, have no body, whatever their fields say; nonsensical fields
///    there prevent reuse of the connection.
/// 2. 101 and a 2xx to CONNECT end HTTP on this connection.
/// 3. Transfer-Encoding must be chunked, once, in HTTP/1.1. It overrides a Content-Length, and the connection is then
///    not reused.
/// 4. Content-Length counts if it is valid, and equal if repeated.
/// 5. Otherwise the body ends with the connection. Only a 205 then has no body, as it must not have one (RFC 9110
///    §15.3.6); its connection is not reused.
extension ParsedHead {
    /// Returns how the body of this response to a request with `method` ends; throws if the head leaves that in doubt.
    public func framing(for method: HTTP.Method) throws(WireError) -> MessageFraming {
        let body = try bodyFraming(for: method)
        return MessageFraming(
            body: body, canReuse: isPersistent && isTrusted(with: body), keepAliveTimeout: summary.keepAliveTimeout)
    }

    private func bodyFraming(for method: HTTP.Method) throws(WireError) -> BodyFraming {
        let code = head.status.code
        // The length first, to keep string comparison off the common path.
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

    /// Whether server and client certainly agree on where this body ends.
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

    /// Whether the fields of a response without a body are sound: for HEAD and 304 they may describe the body that was
    /// left out.
    private var isBodilessSound: Bool {
        switch (summary.coding, summary.length) {
        case (.absent, .absent), (.absent, .exactly): true
        case (.chunked, .absent): head.version == .http11
        default: false
        }
    }
}
