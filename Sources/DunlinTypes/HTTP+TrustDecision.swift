extension HTTP {
    /// Whether a server is trusted, and if not, why.
    public enum TrustDecision: Sendable, Hashable {
        /// The server is trusted by this path: its own certificate first, the anchor last. A policy that accepts
        /// everything verifies nothing, and then the path is the server's certificate alone.
        case accepted(path: [Certificate])
        case refused(NetworkError.TrustRefusal)
    }
}
