internal import DunlinInflate
internal import DunlinWire

/// Both directions of a connection whose messages are compressed.
struct WebSocketCompression: ~Copyable {
    var deflater: MessageDeflater
    var inflater: MessageInflater

    init(_ agreed: WebSocketDeflate, level: Int, limit: Int?) throws(InflateError) {
        // Both are made before either is kept, because nothing of a struct may be left if it cannot be made.
        let deflater = try MessageDeflater(
            windowBits: agreed.clientWindowBits, keepsContext: agreed.clientKeepsContext, level: level)
        let inflater = try MessageInflater(
            windowBits: agreed.serverWindowBits, keepsContext: agreed.serverKeepsContext, limit: limit)
        self.deflater = deflater
        self.inflater = inflater
    }
}

extension WebSocketError {
    init(_ error: InflateError) {
        switch error {
        case .sizeExceeded(let limit): self = .messageTooLong(limit: limit)
        case .outOfMemory: self = .outOfMemory
        default: self = .corruptCompression
        }
    }
}
