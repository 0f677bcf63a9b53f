/// The quality of protection: what a Digest answer protects (RFC 7616 §3.3).
package enum DigestQuality: String, Sendable, Hashable {
    /// The method and the target.
    case authentication = "auth"
    /// The body as well, which must be complete before the request is sent.
    case integrity = "auth-int"
}
