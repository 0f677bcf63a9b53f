package import DunlinTypes

/// A WebSocket message, or a piece of one: text or bytes.
package enum WebSocketMessage: Sendable, Hashable {
    case text(String)
    case binary(Bytes)

    package enum Kind: Sendable, Hashable {
        case text
        case binary
    }

    package var kind: Kind {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }

    /// The content as it is sent.
    package var bytes: Bytes {
        switch self {
        case .text(let text): Bytes(text)
        case .binary(let bytes): bytes
        }
    }
}

extension WebSocketMessage: CustomStringConvertible, CustomReflectable {
    /// Shows the length only, since messages carry secrets.
    package var description: String {
        switch self {
        case .text(let text): "text of \(text.utf8.count) bytes"
        case .binary(let bytes): "\(bytes.count) bytes"
        }
    }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
