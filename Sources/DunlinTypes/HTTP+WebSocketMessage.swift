extension HTTP {
    /// A WebSocket message, or a piece of one: text or bytes.
    public enum WebSocketMessage: Sendable, Hashable {
        case text(String)
        case binary(Bytes)

        public enum Kind: Sendable, Hashable {
            case text
            case binary
        }

        public var kind: Kind {
            switch self {
            case .text: .text
            case .binary: .binary
            }
        }

        /// The content as it is sent.
        public var bytes: Bytes {
            switch self {
            case .text(let text): Bytes(text)
            case .binary(let bytes): bytes
            }
        }
    }
}

extension HTTP.WebSocketMessage: CustomDebugStringConvertible, CustomReflectable {
    /// Shows the length only, since messages carry secrets.
    public var debugDescription: String {
        switch self {
        case .text(let text): "text of \(text.utf8.count) bytes"
        case .binary(let bytes): "\(bytes.count) bytes"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
