extension HTTPSession {
    /// The values of a stream of server-sent events, each decoded from the data of an event.
    public struct EventValues<Value: Decodable>: AsyncSequence, Sendable {
        public typealias Element = Value
        public typealias Failure = any Error

        /// The events themselves. The values and the events are one stream, which can be read once.
        public let events: EventStream
        /// The names of the events that have values; nil if all have.
        let names: Set<ExactText>?

        /// The number of the current attempt, as in ``HTTPSession/EventStream/attempt``.
        public var attempt: Int { events.attempt }

        public func makeAsyncIterator() -> Iterator { Iterator(names: names, events: events.makeAsyncIterator()) }

        public struct Iterator: AsyncIteratorProtocol {
            let names: Set<ExactText>?
            var events: EventStream.Iterator
            /// How many events have come, those without a value included.
            private var count = 0

            init(names: Set<ExactText>?, events: EventStream.Iterator) {
                (self.names, self.events) = (names, events)
            }

            public mutating func next() async throws -> Value? {
                while let event = try await events.next() {
                    count += 1
                    if let names, !names.contains(ExactText(event.name)) { continue }
                    do {
                        return try event.json(Value.self)
                    } catch {
                        guard let error = error as? DecodingError else {
                            events.reader?.end()
                            throw error
                        }
                        var failure = NetworkError(decoding: error)
                        failure.reason = "event \(count) of the stream: \(failure.reason)"
                        throw events.reader?.end(because: failure, with: event.data) ?? failure
                    }
                }
                return nil
            }
        }
    }
}
