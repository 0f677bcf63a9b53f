internal import DunlinTransport

extension HTTPSession {
    /// The progress of one direction of a request. It never goes down.
    public struct TransferProgress: Sendable, Hashable {
        /// Bytes of the body on the wire, content codings on and framing off: of an upload those the socket has taken,
        /// of a download those that have arrived.
        public var wireBytes: Int
        /// Bytes with content codings taken off; `totalBytes` counts bytes on the wire.
        public var decodedBytes: Int
        /// Bytes that the whole will have; nil if that is unknown.
        public var totalBytes: Int?
        /// Over the last three seconds, from the first byte moved; nil until there is something to compare.
        public var bytesPerSecond: Double?
        /// Whether the request is over, whatever its outcome: no value follows this one.
        public var isFinal: Bool

        public init(
            wireBytes: Int = 0, decodedBytes: Int = 0, totalBytes: Int? = nil, bytesPerSecond: Double? = nil,
            isFinal: Bool = false
        ) {
            self.wireBytes = wireBytes
            self.decodedBytes = decodedBytes
            self.totalBytes = totalBytes
            self.bytesPerSecond = bytesPerSecond
            self.isFinal = isFinal
        }

        /// From 0 to 1; nil if the total is unknown. An empty body is 1 once the request is over.
        public var fraction: Double? {
            guard let totalBytes else { return nil }
            if totalBytes <= 0 { return isFinal ? 1 : 0 }
            return max(0, min(1, Double(wireBytes) / Double(totalBytes)))
        }

        /// The time left at the present rate; nil if it cannot be estimated.
        public var timeLeft: Duration? {
            guard let totalBytes else { return nil }
            let left = totalBytes.subtractingClamped(wireBytes)
            if left <= 0 { return .zero }
            guard let bytesPerSecond, bytesPerSecond > 0 else { return nil }
            let seconds = Double(left) / bytesPerSecond
            // Beyond that it is no forecast any more, and might not fit.
            return seconds < 1e9 ? .seconds(seconds) : nil
        }
    }

    enum Direction: Sendable {
        case upload
        case download
    }
}

extension HTTPSession.TransferProgress {
    init(_ tally: Tally, _ direction: HTTPSession.Direction) {
        switch direction {
        case .upload:
            self.init(
                wireBytes: tally.sent, decodedBytes: tally.sent, totalBytes: tally.sentTotal, isFinal: tally.isOver)
        case .download:
            self.init(
                wireBytes: tally.received, decodedBytes: tally.decoded, totalBytes: tally.receivedTotal,
                isFinal: tally.isOver)
        }
    }
}
