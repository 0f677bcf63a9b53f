package import DunlinTypes

/// A source of TLS policies for handshakes: a session's, which may change, or one request's own.
public protocol TLSPolicySource: AnyObject, Sendable {
    /// Returns the policy for a handshake that begins now.
    func tlsPolicy() -> any TLSPolicy
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
