package import DunlinTypes

/// A message or a piece of one, as frames carry it: perhaps compressed, and then no text yet.
package struct WebSocketPiece: Sendable, Hashable {
    package var kind: WebSocketMessage.Kind
    package var bytes: Bytes
    package var isCompressed: Bool
    package var isLast: Bool

    package init(_ kind: WebSocketMessage.Kind, _ bytes: Bytes, isCompressed: Bool = false, isLast: Bool = true) {
        self.kind = kind
        self.bytes = bytes
        self.isCompressed = isCompressed
        self.isLast = isLast
    }
}
