extension HTTPSession {
    /// The values of a stream of server-sent events, each decoded from the data of an event.
    public struct EventValues<Value: Decodable>: AsyncSequence, Sendable {
        public typealias Element = Value
        public typealias Failure = any Error

        /// The events themselves. The values and the events are one stream, which can be read once.
        public let events: EventStream
        /// The names of the events that have values; nil if all have.
        let names: Set<String>?

        /// The number of the current attempt, as in ``HTTPSession/EventStream/attempt``.
        public var attempt: Int { events.attempt }

        public func makeAsyncIterator() -> Iterator { Iterator(names: names, events: events.makeAsyncIterator()) }

        public struct Iterator: AsyncIteratorProtocol {
            let names: Set<String>?
            var events: EventStream.Iterator

            public mutating func next() async throws -> Value? {
                while let event = try await events.next() {
                    if let names, !names.contains(event.name) { continue }
                    do {
                        return try event.json(Value.self)
                    } catch {
                        let reason = (error as? DecodingError).map(NetworkError.init(decoding:))
                        if let reason { throw events.reader?.end(because: reason) ?? reason }
                        events.reader?.end()
                        throw error
                    }
                }
                return nil
            }
        }
    }
}
