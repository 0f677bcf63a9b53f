extension HTTP {
    /// Whether a server is trusted, and if not, why.
    public enum TrustDecision: Sendable, Hashable {
        /// The verified path: the server's own certificate first, the anchor last. A policy that accepts everything has
        /// verified nothing, and there the path is the server's certificate alone.
        case accepted(path: [Certificate])
        case refused(NetworkError.TrustRefusal)
    }
}
