package import DunlinTypes

/// A source of TLS policies for handshakes: a session's, which may change, or one request's own.
public protocol TLSPolicySource: AnyObject, Sendable {
    /// Calls `then` with the policy for a handshake that begins now: at once, or later from another thread if files
    /// must be read for it.
    func tlsPolicy(_ then: @escaping @Sendable (any TLSPolicy) -> Void)
    /// Whether no request may be sent in clear text by now.
    var refusesClearText: Bool { get }
}

extension TLSPolicySource {
    public var refusesClearText: Bool { false }
}

extension NetworkError {
    /// Why a request is refused that would be sent in clear text.
    package static var clearTextReason: String {
        "the session pins its servers, so it sends nothing over http; use https"
    }
}
