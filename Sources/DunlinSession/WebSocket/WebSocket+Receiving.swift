internal import DunlinContent
internal import DunlinWire

extension HTTPSession.WebSocket {
    /// The messages that arrive, each as a whole.
    ///
    /// The sequence ends when the connection has been closed by either side; `closeCode` says how. It fails if the
    /// connection was lost, or if a limit or a rule was broken. A task that is cancelled while it waits just stops
    /// waiting: no message is lost, and the connection stays open.
    ///
    /// ```swift
    /// for try await message in socket.messages {
    ///     if case .text(let text) = message { show(text) }
    /// }
    /// ```
    public var messages: Messages { Messages(socket: self) }

    /// The values of the messages that arrive, each decoded from the JSON of a text or of bytes, in the session's way,
    /// `socket.messages(of: Note.self)`, or in another, `socket.messages(of: Note.self, .snakeCase)`.
    ///
    /// A message that cannot be decoded throws an error with code `decodingFailed`, whose body is the message. The
    /// connection stays open, and whoever reads on gets the next one.
    public func messages<Value: Decodable>(of type: Value.Type, _ json: HTTP.JSON? = nil) -> Values<Value> {
        Values(messages: messages, json: content.json(insteadOf: json))
    }

    /// The values of the messages of a WebSocket.
    public struct Values<Value: Decodable>: AsyncSequence, AsyncIteratorProtocol, Sendable {
        public typealias Element = Value
        var messages: Messages
        let json: HTTP.JSON

        public func makeAsyncIterator() -> Self { self }

        public mutating func next() async throws -> Value? {
            guard let bytes = try await messages.next()?.bytes else { return nil }
            do {
                return try json.decode(Value.self, from: bytes)
            } catch let error as DecodingError {
                var failure = NetworkError(decoding: error)
                let connection = messages.socket.driver.connection
                failure.body = bytes.beginning(upTo: connection.keptBody)
                throw connection.named(failure)
            }
        }
    }

    /// The same, piece by piece as they arrive, for messages that are not to be held as a whole. Both sequences may be
    /// used in turn; `messages` leaves out the rest of a message that was begun here.
    public var pieces: Pieces { Pieces(socket: self) }

    /// The messages of a WebSocket.
    public struct Messages: AsyncSequence, AsyncIteratorProtocol, Sendable {
        public typealias Element = Message
        let socket: HTTPSession.WebSocket

        public func makeAsyncIterator() -> Self { self }

        public mutating func next() async throws -> Message? {
            try await socket.named { try await socket.driver.nextMessage() }
        }
    }

    /// A piece of a message: a text with whole characters, or bytes.
    public struct Piece: Sendable, Hashable {
        public let content: Message
        /// Whether the message ends with it.
        public let isLast: Bool
    }

    /// The messages of a WebSocket, piece by piece.
    public struct Pieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
        public typealias Element = Piece
        let socket: HTTPSession.WebSocket

        public func makeAsyncIterator() -> Self { self }

        public mutating func next() async throws -> Piece? {
            try await socket.named {
                try await socket.driver.nextPiece().map { Piece(content: $0.0, isLast: $0.isLast) }
            }
        }
    }
}
