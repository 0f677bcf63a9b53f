/// The schemes of WebSockets: the handshake is a request of HTTP (RFC 6455 §3).
package enum WebSocketScheme {
    /// The reference with the scheme by which its handshake goes; any other as it is.
    package static func overHTTP(_ reference: String) -> String {
        guard let end = reference.firstIndex(of: ":") else { return reference }
        let scheme: String
        switch reference[..<end].lowercased() {
        case "ws": scheme = "http"
        case "wss": scheme = "https"
        default: return reference
        }
        return scheme + reference[end...]
    }
}
