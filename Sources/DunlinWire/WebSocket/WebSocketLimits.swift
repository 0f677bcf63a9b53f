/// How much a WebSocket connection accepts. Enforced as bytes arrive.
package struct WebSocketLimits: Sendable, Hashable {
    /// The length of one frame, as its head says it.
    package var frameBytes = 16 * 1024 * 1024
    /// The length of one message, decompressed; nil for no limit, for messages that are read piece by piece.
    package var messageBytes: Int? = 16 * 1024 * 1024
    /// The length of the messages that have arrived and that nobody has taken. Beyond it nothing is read.
    package var backlogBytes = 1024 * 1024

    package init() {}

    /// The length of a compressed message before it is decompressed. Deflate adds little to what it cannot compress, so
    /// more consists of empty blocks.
    var compressedBytes: Int? {
        messageBytes.map { limit in
            let (sum, overflow) = limit.addingReportingOverflow(limit / 64 + 1024)
            return overflow ? .max : sum
        }
    }
}
