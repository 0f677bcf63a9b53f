internal import DunlinTransport

extension HTTPSession {
    /// The progress of one direction of a request. It never goes down.
    public struct TransferProgress: Sendable, Hashable {
        /// The number of body bytes on the wire, with content codings on and framing removed: those the socket has
        /// taken for an upload, those that have arrived for a download.
        public var wireBytes: Int
        /// The number of bytes after content codings were removed; `totalBytes` counts bytes on the wire.
        public var decodedBytes: Int
        /// The total number of bytes; nil if it is unknown.
        public var totalBytes: Int?
        /// The rate over the last three seconds, counted from the first byte; nil until there is something to compare.
        public var bytesPerSecond: Double?
        /// Whether the request is over, with any outcome; no other value follows.
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

        /// The fraction of the total, from 0 to 1; nil if the total is unknown. For an empty body it is 1 once the
        /// request is over.
        public var fraction: Double? {
            guard let totalBytes else { return nil }
            if totalBytes <= 0 { return isFinal ? 1 : 0 }
            return max(0, min(1, Double(wireBytes) / Double(totalBytes)))
        }

        /// The time left at the current rate; nil if it cannot be estimated.
        public var timeLeft: Duration? {
            guard let totalBytes else { return nil }
            let left = totalBytes.subtractingClamped(wireBytes)
            if left <= 0 { return .zero }
            guard let bytesPerSecond, bytesPerSecond > 0 else { return nil }
            let seconds = Double(left) / bytesPerSecond
            // A longer time is no useful forecast, and might not fit.
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
