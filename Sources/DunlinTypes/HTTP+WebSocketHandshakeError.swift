extension HTTP {
    /// Why a WebSocket handshake cannot begin, or did not lead to a connection (RFC 6455 §4.1).
    ///
    /// No case contains the key, or text that the server sent.
    public enum WebSocketHandshakeError: Error, Sendable, Hashable {
        // Before anything is sent.
        /// The key does not have 16 bytes.
        case invalidKey
        /// A subprotocol is not a token, or is offered twice.
        case invalidSubprotocol

        // The answer.
        /// The server answered as it does to an ordinary request. `versions` are those that it supports, if it names
        /// any.
        case notSwitched(HTTP.Status, versions: [Int])
        /// Upgrade is missing, or names anything but websocket.
        case wrongUpgrade
        /// Connection does not have the option upgrade.
        case missingConnectionUpgrade
        /// Sec-WebSocket-Accept is missing, repeated, or not what answers the key.
        case wrongAccept
        case subprotocolNotOffered
        /// The answer has several subprotocols.
        case severalSubprotocols
        case malformedExtensions
        case extensionNotOffered
        /// The parameters of permessage-deflate were not offered, or are not valid.
        case invalidDeflate
    }
}

extension HTTP.WebSocketHandshakeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidKey: "A WebSocket key has 16 bytes."
        case .invalidSubprotocol: "A subprotocol is not a token, or is offered twice."
        case .notSwitched(let status, versions: []):
            "The server answered \(status.code), and did not switch to WebSocket."
        case .notSwitched(let status, let versions):
            "The server answered \(status.code), and supports only these versions of WebSocket: "
                + versions.map { "\($0)" }.joined(separator: ", ") + "."
        case .wrongUpgrade: "The server's Upgrade field does not say websocket."
        case .missingConnectionUpgrade: "The server's Connection field does not say upgrade."
        case .wrongAccept: "The server's Sec-WebSocket-Accept field does not answer the key."
        case .subprotocolNotOffered: "The server chose a subprotocol that was not offered."
        case .severalSubprotocols: "The server chose more than one subprotocol."
        case .malformedExtensions: "The server's Sec-WebSocket-Extensions field is malformed."
        case .extensionNotOffered: "The server chose an extension that was not offered."
        case .invalidDeflate:
            "The server chose permessage-deflate parameters that were not offered or are not valid."
        }
    }
}
