internal import DunlinInflate
internal import DunlinReactor
internal import DunlinWire

// MARK: - Receiving

extension WebSocketDriver {
    /// Returns the next message, once all of it is there; nil after the last. The rest of one that was begun piece by
    /// piece is left out.
    func nextMessage() async throws -> WebSocketMessage? {
        while let (piece, isLast) = try await takePiece() {
            if isWithinPieces {
                isWithinPieces = !isLast
                continue
            }
            collector.add(piece)
            if isLast { return collector.take() }
        }
        return nil
    }

    /// Returns the next piece, and whether it is the last one of its message; nil after the last message.
    func nextPiece() async throws -> (WebSocketMessage, isLast: Bool)? {
        try checkReader()
        if let begun = collector.take() {
            isWithinPieces = true
            return (begun, false)
        }
        guard let (piece, isLast) = try await takePiece() else { return nil }
        isWithinPieces = !isLast
        return (piece, isLast)
    }

    private func takePiece() async throws -> (WebSocketMessage, isLast: Bool)? {
        while true {
            try Task.checkCancellation()
            try checkReader()
            if let taken = backlog.take() {
                madeRoom()
                return (taken.message, taken.isLast)
            }
            switch end {
            case .closed:
                hasToldEnd = true
                return nil
            case .failed(let error): throw error
            case nil: break
            }
            let waiter = ValueWaiter<Void>(on: loop)
            messageWaiter = waiter
            _ = await waiter.valueUnlessCancelled()
            messageWaiter = nil
        }
    }

    /// Refuses a second reader, also if something is there: whoever waits has been told of it, and has not had its turn
    /// yet.
    private func checkReader() throws {
        guard messageWaiter == nil else {
            throw NetworkError(.bodyConsumed, "the socket is already being read by another task", phase: .receive)
        }
    }
}

// MARK: - Sending

extension WebSocketDriver {
    /// A frame's payload is at most this long, so that control frames need not wait for long.
    private static let longestSlice = 64 * 1024

    /// Sends a whole message.
    func send(_ message: WebSocketMessage) async throws {
        try await begin()
        isPlain = message.bytes.count < settings.compression?.shortest ?? 0
        do {
            try await send(message.bytes, of: message.kind, isLast: true)
        } catch {
            leave()
            throw error
        }
        endMessage()
    }

    /// Waits for the turn to send a message. Nothing has been sent if it throws.
    func begin() async throws {
        try Task.checkCancellation()
        if let waiter = messageTurns.ask(on: loop), await waiter.valueUnlessCancelled() == nil {
            throw CancellationError()
        }
        isPlain = false
        if !machine.isOpen || end != nil {
            messageTurns.end()
            throw refusal
        }
    }

    /// Ends a message that has been sent.
    func endMessage() {
        sent += 1
        messageTurns.end()
    }

    /// Gives up a message. If part of it has been sent, nothing else can follow.
    func leave() {
        if isWithinMessage, machine.isOpen {
            machine.close(.unfinishedMessage, at: loop.now())
            changed()
        }
        messageTurns.end()
    }

    func send(_ bytes: Bytes, of kind: WebSocketMessage.Kind, isLast: Bool) async throws {
        var start = 0
        repeat {
            let end = Self.cut(bytes, from: start, kind)
            try await sendSlice(bytes[start..<end], of: kind, isLast: isLast && end == bytes.count)
            await letOthersRun(after: end - start)
            start = end
        } while start < bytes.count
    }

    /// Where the next slice ends. A slice of text ends with a whole character.
    private static func cut(_ bytes: Bytes, from start: Int, _ kind: WebSocketMessage.Kind) -> Int {
        var end = min(bytes.count, start + longestSlice)
        while kind == .text, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return end
    }

    private func sendSlice(_ bytes: Bytes, of kind: WebSocketMessage.Kind, isLast: Bool) async throws {
        if bytes.isEmpty, !isLast { return }
        guard await frameTurn() else { throw CancellationError() }
        defer { frameTurns.end() }
        // Once a message has begun, cancelling its sender closes the connection, since the peer waits for the rest.
        if !isWithinMessage { try Task.checkCancellation() }
        guard machine.isOpen, end == nil else { throw refusal }
        isWithinMessage = true
        if let frame = try frame(bytes, of: kind, isLast: isLast) {
            do {
                try await write(frame)
            } catch {
                // What has ended the connection has cut off the write.
                if let end { throw end.error }
                writingFailed(error)
                throw error
            }
        }
        if isLast { isWithinMessage = false }
    }

    /// The frame with a slice; nil if it is compressed and nothing is ready.
    private func frame(_ bytes: Bytes, of kind: WebSocketMessage.Kind, isLast: Bool) throws(WebSocketError) -> Bytes? {
        var piece = WebSocketPiece(kind, bytes, isLast: isLast)
        if compression != nil, !isPlain {
            piece.isCompressed = true
            piece.bytes = compression?.deflater.deflate(bytes, isLast: isLast) ?? .empty
            if piece.bytes.isEmpty { return nil }
        }
        var frame: [UInt8] = []
        try sender.append(piece, into: &frame)
        return Bytes(frame)
    }

    /// Sends a ping. Returns the time from its frame to the answer.
    func ping() async throws -> Duration {
        try Task.checkCancellation()
        guard end == nil, let number = machine.sendPing() else { throw refusal }
        let waiter = ValueWaiter<Duration?>(on: loop)
        pings.append(WaitingPing(number: number, waiter: waiter))
        changed()
        guard let answer = await waiter.valueUnlessCancelled() else {
            pings.removeAll { $0.waiter === waiter }
            throw CancellationError()
        }
        guard let roundTrip = answer else { throw refusal }
        return roundTrip
    }
}
