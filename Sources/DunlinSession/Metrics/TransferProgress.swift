internal import DunlinTransport

extension HTTPSession {
    /// How far one direction of a request has come. Never less than it was told before.
    public struct TransferProgress: Sendable, Hashable {
        /// Bytes of the content as they travel, codings on and framing off: an upload's that the socket has taken, a
        /// download's that have arrived.
        public var wireBytes: Int
        /// The same with content codings taken off. What `totalBytes` counts is on the wire.
        public var decodedBytes: Int
        /// Nil if only the end will tell.
        public var totalBytes: Int?
        /// Smoothed over some seconds; nil until there is something to compare.
        public var bytesPerSecond: Double?
        /// The request is over, in whichever way: no value follows this one.
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

        /// From 0 to 1; nil if the total is unknown. Nothing of nothing is all of it once the request is over.
        public var fraction: Double? {
            guard let totalBytes else { return nil }
            if totalBytes <= 0 { return isFinal ? 1 : 0 }
            return max(0, min(1, Double(wireBytes) / Double(totalBytes)))
        }

        /// At the present rate; nil if there is no telling.
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
