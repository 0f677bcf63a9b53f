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
