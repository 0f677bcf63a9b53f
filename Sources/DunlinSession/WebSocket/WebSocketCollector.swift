internal import DunlinWire

/// Makes a message of its pieces. One in a single piece is not copied.
struct WebSocketCollector {
    private var first: WebSocketMessage?
    /// All bytes, once there are two pieces that are not empty.
    private var bytes: [UInt8] = []

    mutating func add(_ piece: WebSocketMessage) {
        guard let first else { return first = piece }
        let more = piece.bytes
        if more.isEmpty { return }
        if bytes.isEmpty { bytes = first.bytes.array }
        more.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// Returns what has been added since the last time.
    mutating func take() -> WebSocketMessage? {
        defer { self = WebSocketCollector() }
        guard let first, !bytes.isEmpty else { return first }
        return first.kind == .text ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(Bytes(bytes))
    }
}
