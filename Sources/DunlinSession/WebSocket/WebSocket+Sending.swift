internal import DunlinWire

extension HTTPSession.WebSocket {
    /// Sends a text as one message. Returns when the kernel has taken it.
    ///
    /// If the task is cancelled while it waits for other messages, nothing has been sent. If a part has been sent, the
    /// connection is closed, because the peer waits for the rest.
    public func send(_ text: String) async throws {
        try await send(.text(text))
    }

    /// Sends bytes as one message.
    public func send(_ bytes: Bytes) async throws {
        try await send(.binary(bytes))
    }

    /// Sends a message.
    public func send(_ message: Message) async throws {
        try await named { try await driver.send(message) }
    }

    /// Sends a value as one message, a text of JSON, in the session's way, `socket.send(json: note)`, or in another,
    /// `socket.send(json: note, .snakeCase)`.
    public func send(json value: some Encodable, _ json: HTTP.JSON? = nil) async throws {
        try await send(.text(String(try content.json(insteadOf: json).encode(value))))
    }

    /// Sends a text piece by piece, as one message. Messages of other tasks wait until it has ended. If the sequence
    /// fails after the first piece, the connection is closed with code 1011, since the message has no end.
    public func send<Pieces: AsyncSequence>(_ pieces: Pieces) async throws where Pieces.Element == String {
        try await send(pieces, .text) { Bytes($0) }
    }

    /// Sends bytes piece by piece, as one message.
    public func send<Pieces: AsyncSequence>(_ pieces: Pieces) async throws where Pieces.Element == Bytes {
        try await send(pieces, .binary) { $0 }
    }

    private func send<Pieces: AsyncSequence>(
        _ pieces: Pieces, _ kind: Message.Kind, _ bytes: (Pieces.Element) -> Bytes
    ) async throws {
        try await named { try await driver.begin() }
        do {
            for try await piece in pieces {
                try await named { try await driver.send(bytes(piece), of: kind, isLast: false) }
            }
            try await named { try await driver.send(.empty, of: kind, isLast: true) }
        } catch {
            await driver.leave()
            throw error
        }
        await driver.endMessage()
    }

    /// Sends a ping. Returns the time until its answer. While the backlog is full, no answer can be read.
    @discardableResult
    public func ping() async throws -> Duration {
        try await named { try await driver.ping() }
    }

    /// Closes the connection: says so with a code and a reason, and waits until the peer has said so too, at most for
    /// `settings.closeLimit`. Without an answer in time, the connection is closed all the same.
    ///
    /// A message that is being sent is cut off, so wait for it before. Messages that had arrived can still be read. If
    /// the task is cancelled while it waits, the connection is closed at once. A code that no close frame may have, and
    /// a reason of more than 123 bytes, are errors, and then the connection stays open.
    public func close(_ code: CloseCode = .normal, reason: String = "") async throws {
        try await named { try await driver.close(WebSocketClosing(code, reason: reason)) }
    }

    /// Does something with the connection; errors name its request.
    func named<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch _ where Task.isCancelled {
            // Whatever has closed the connection, this task was cancelled.
            throw CancellationError()
        } catch let error as WebSocketError {
            throw driver.connection.named(NetworkError(error))
        } catch let error as NetworkError where error.request == nil {
            throw driver.connection.named(error)
        }
    }
}
