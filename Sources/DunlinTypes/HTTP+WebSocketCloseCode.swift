extension HTTP {
    /// Why a WebSocket connection is closed, as a number (RFC 6455 §7.4).
    public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
        public var rawValue: UInt16

        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        public static let normal = WebSocketCloseCode(rawValue: 1000)
        public static let goingAway = WebSocketCloseCode(rawValue: 1001)
        public static let protocolError = WebSocketCloseCode(rawValue: 1002)
        public static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
        /// Text that is not UTF-8, or compressed content that is damaged.
        public static let invalidContent = WebSocketCloseCode(rawValue: 1007)
        /// In no frame: the close frame had no code.
        public static let noCode = WebSocketCloseCode(rawValue: 1005)
        /// In no frame: the connection ended without the closing handshake.
        public static let abnormal = WebSocketCloseCode(rawValue: 1006)
        public static let policyViolation = WebSocketCloseCode(rawValue: 1008)
        public static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
        /// The server did not agree on an extension that the client needs. Only clients send it.
        public static let extensionMissing = WebSocketCloseCode(rawValue: 1010)
        public static let internalError = WebSocketCloseCode(rawValue: 1011)
        public static let serviceRestart = WebSocketCloseCode(rawValue: 1012)
        public static let tryAgainLater = WebSocketCloseCode(rawValue: 1013)
        public static let badGateway = WebSocketCloseCode(rawValue: 1014)

        /// Whether a close frame may have this code: one that is registered for that, or one for libraries (3000 to
        /// 3999) or applications (4000 to 4999).
        ///
        /// 1005, 1006 and 1015 describe closes without a frame, and 1004 has no meaning.
        public var isSendable: Bool {
            switch rawValue {
            case 1000...1003, 1007...1014, 3000...4999: true
            default: false
            }
        }
    }
}

extension HTTP.WebSocketCloseCode: CustomStringConvertible {
    public var description: String { "\(rawValue)" }
}
