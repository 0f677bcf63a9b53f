/// What a Digest answer protects, its quality of protection (RFC 7616 §3.3).
package enum DigestQuality: String, Sendable, Hashable {
    /// The method and the target.
    case authentication = "auth"
    /// The body besides: it has to be there before the request is sent.
    case integrity = "auth-int"
}
