internal import Synchronization

extension HTTPSession {
    /// The server-sent events of a stream that is requested again whenever it ends or breaks: see <doc:Streams>.
    ///
    /// Nothing is sent before the first event is asked for. The stream can be read once; a second iterator throws a
    /// `NetworkError` with code `bodyConsumed`. Whoever stops reading ends the stream: its connection is closed when
    /// the iterator is released.
    public struct EventStream: AsyncSequence, Sendable {
        public typealias Element = ServerSentEvent
        public typealias Failure = any Error

        /// What all copies share.
        final class Source: Sendable {
            private let number = Atomic(1)
            private let isTaken = Atomic(false)

            var attempt: Int {
                get { number.load(ordering: .relaxed) }
                set { number.store(newValue, ordering: .relaxed) }
            }

            /// Whether the caller is the first.
            func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
        }

        let session: HTTPSession
        let request: EventRequest
        let source = Source()

        /// The number of the current attempt, or of the one that is waited for: 1 for the first, and one more for each
        /// reconnection.
        public var attempt: Int { source.attempt }

        public func makeAsyncIterator() -> Iterator {
            Iterator(reader: source.take() ? EventReader(session, source, request) : nil)
        }

        public struct Iterator: AsyncIteratorProtocol {
            let reader: EventReader?

            public mutating func next() async throws -> ServerSentEvent? {
                guard let reader else {
                    throw NetworkError(.bodyConsumed, "the stream of events can be read once only")
                }
                return try await reader.next()
            }
        }
    }
}

extension HTTPSession.EventStream: CustomStringConvertible, CustomReflectable {
    /// The number of the current attempt, and nothing of the request.
    public var description: String { "EventStream(attempt \(attempt))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
