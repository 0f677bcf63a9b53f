extension RequestBody {
    /// The highest rate at which a body is sent: packets of a size, with a delay between them.
    public struct Throttle: Sendable, Hashable {
        /// The number of bytes in a packet; at least 1.
        public var packetSize: Int
        public var delay: Duration

        public init(packetSize: Int, delay: Duration) {
            self.packetSize = packetSize
            self.delay = delay
        }

        /// AFNetworking's suggestion for third-generation mobile networks: 80 KiB a second.
        public static let suggested3G = RequestBody.Throttle(packetSize: 16 * 1024, delay: .milliseconds(200))
    }
}

extension RequestBody {
    /// Returns the same body in packets, with a pause between any two. It keeps its length, and stays replayable if it
    /// was.
    ///
    /// Pauses are measured by `clock`; cancelling ends one at once. A file's length is looked up now, so an unreadable
    /// file throws here.
    public func throttled(
        _ throttle: RequestBody.Throttle, clock: any Clock<Duration> = ContinuousClock()
    ) throws -> RequestBody {
        let pieces = try pieces()
        guard let make = pieces.make else { return self }
        return with(
            .stream(length: pieces.length, isReplayable: pieces.isReplayable) {
                ThrottledChunks(chunks: make(), throttle: throttle, clock: clock)
            })
    }
}

private struct ThrottledChunks: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    let chunks: any RequestBody.Chunks
    let throttle: RequestBody.Throttle
    let clock: any Clock<Duration>

    func makeAsyncIterator() -> Iterator {
        Iterator(RequestBody.iterator(of: chunks), throttle, clock)
    }

    struct Iterator: AsyncIteratorProtocol {
        private var chunks: any AsyncIteratorProtocol<Bytes, any Error>
        private let throttle: RequestBody.Throttle
        private let clock: any Clock<Duration>
        /// Bytes that came and are to be sent later.
        private var rest = Bytes.empty
        private var hasGiven = false

        init(
            _ chunks: any AsyncIteratorProtocol<Bytes, any Error>, _ throttle: RequestBody.Throttle,
            _ clock: any Clock<Duration>
        ) {
            self.chunks = chunks
            self.throttle = throttle
            self.clock = clock
        }

        mutating func next() async throws -> Bytes? {
            while rest.isEmpty {
                guard let chunk = try await chunks.next(isolation: nil) else { return nil }
                rest = chunk
            }
            if hasGiven, throttle.delay > .zero { try await clock.sleep(for: throttle.delay.clamped) }
            hasGiven = true
            let packet = rest[0..<Swift.min(Swift.max(1, throttle.packetSize), rest.count)]
            rest = rest[packet.count..<rest.count]
            return packet
        }
    }
}
