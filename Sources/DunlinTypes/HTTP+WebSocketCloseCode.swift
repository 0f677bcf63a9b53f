/// Why a WebSocket connection is closed, as a number (RFC 6455 §7.4).
package struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let normal = WebSocketCloseCode(rawValue: 1000)
    package static let goingAway = WebSocketCloseCode(rawValue: 1001)
    package static let protocolError = WebSocketCloseCode(rawValue: 1002)
    package static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// Text that is not UTF-8, or compressed content that is damaged.
    package static let invalidContent = WebSocketCloseCode(rawValue: 1007)
    package static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    package static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// The server did not agree on an extension that the client needs. Only clients send it.
    package static let extensionMissing = WebSocketCloseCode(rawValue: 1010)
    package static let internalError = WebSocketCloseCode(rawValue: 1011)
    package static let serviceRestart = WebSocketCloseCode(rawValue: 1012)
    package static let tryAgainLater = WebSocketCloseCode(rawValue: 1013)
    package static let badGateway = WebSocketCloseCode(rawValue: 1014)

    /// Whether a close frame may have this code: one that is registered for that, or one for libraries (3000 to 3999)
    /// or applications (4000 to 4999).
    ///
    /// 1005, 1006 and 1015 describe closes without a frame, and 1004 has no meaning.
    package var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

extension WebSocketCloseCode: CustomStringConvertible {
    package var description: String { "\(rawValue)" }
}
