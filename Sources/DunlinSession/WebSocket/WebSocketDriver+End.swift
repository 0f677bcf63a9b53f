internal import DunlinReactor
internal import DunlinWire
internal import Synchronization

// MARK: - The end

extension WebSocketDriver {
    /// Says close, and waits until the connection has ended.
    func close(_ closing: WebSocketClosing) async throws {
        machine.close(closing, at: loop.now())
        changed()
        guard end == nil else { return }
        let waiter = ValueWaiter<Void>(on: loop)
        endWaiters.append(waiter)
        if await waiter.valueUnlessCancelled() == nil {
            abort()
            throw CancellationError()
        }
    }

    /// Closes the connection without a word, unless its end is known.
    func abort() {
        if end == nil { finish(.failed(NetworkError.closedHere)) }
    }

    /// Notes that the connection cannot be read any more. Once both sides have said close, nobody needs it.
    func lose(_ error: any Error) {
        if end != nil { return }
        if !machine.isOpen {
            machine.connectionLost()
            if let outcome = machine.outcome(at: loop.now()) { return finish(end(of: outcome)) }
        }
        finish(.failed(error is CancellationError ? NetworkError.closedHere : error))
    }

    /// Notes that the connection cannot be written any more. The peer may have said why, so it is still read, unless
    /// this side has closed it.
    func writingFailed(_ error: any Error) {
        guard end == nil, connection.isOpen, !(error is CancellationError) else { return lose(error) }
        writeFailure = writeFailure ?? error
        machine.writingFailed(at: loop.now())
        endPings()
        changed()
    }

    /// What a send or a ping gets that cannot be done.
    var refusal: any Error { end?.error ?? writeFailure ?? WebSocketError.closed }

    /// Why the connection was lost, if another may be opened instead.
    var loss: NetworkError? {
        let error: any Error
        switch end {
        case .closed(let code, _, byPeer: true) where settings.passingCodes.contains(code):
            error = NetworkError(
                .connectionClosed, "the server closed the WebSocket with the code \(code)", phase: .receive,
                requestMayHaveBeenSent: true)
        case .failed(let failure): error = (failure as? WebSocketError).map { NetworkError($0) } ?? failure
        case .closed, nil: return nil
        }
        return connection.named(error) as? NetworkError
    }

    /// How many messages were sent after the last ping that was answered.
    var unconfirmed: Int { sent - confirmed }

    /// What an outcome is for those who use the connection. If the peer has not said why it takes nothing more, it is
    /// the error of the write.
    func end(of outcome: WebSocketOutcome) -> WebSocketEnd {
        switch (outcome, writeFailure) {
        case (.failed(.endedWithoutClose), let failure?), (.failed(.noClose), let failure?): .failed(failure)
        default: WebSocketEnd(outcome)
        }
    }

    /// Ends the connection, once.
    func finish(_ end: WebSocketEnd) {
        report(end)
        connection.close()
        if let timer { loop.forget(timer) }
        timer = nil
    }

    /// Tells how the connection ended, once. Those who wait for something find the end.
    func report(_ end: WebSocketEnd) {
        if self.end != nil { return }
        _ = ending.storeIfNil(Ending(end))
        for waiter in [messageWaiter, roomWaiter] { _ = waiter?.deliver(()) }
        for waiter in endWaiters { _ = waiter.deliver(()) }
        endWaiters = []
        endCloseWaits()
        endPings()
        // Whoever waits behind a message that is not going on finds the end.
        messageTurns.endAll()
    }

    private func endPings() {
        for ping in pings { _ = ping.waiter.deliver(nil) }
        pings = []
    }
}

// MARK: - After an error

extension WebSocketDriver {
    /// Says that nothing more will be sent.
    func endWriting() async {
        do {
            try await connection.finishWriting()
        } catch {
            // The outcome is known, and whoever reads finds the end of the connection.
        }
    }

    /// Reads and discards what comes, until the stream ends, or a limit of the machine is reached.
    func discardInput() async {
        do {
            while machine.discards, let bytes = try await connection.read() {
                machine.discarded(bytes.count)
                await letOthersRun(after: bytes.count)
            }
            machine.streamEnded()
        } catch {
            // The connection is gone, and so is whatever it may have brought.
            machine.connectionLost()
        }
        changed()
    }
}

// MARK: - The end of the session

extension WebSocketDriver: SessionResident {
    /// Says close, and does not wait: the session does.
    func sessionEnds() async {
        machine.close(.goingAway, at: loop.now())
        changed()
    }

    /// The session cancels the request of the connection as all others.
    nonisolated func stop() -> Set<HTTPSession.TaskID> { [] }

    /// A request within whose scope the session is shut down is not cancelled, but its connection is closed. Whoever
    /// asks the socket after the shutdown is told of its end, unless the reader waits for room in the backlog: the code
    /// that makes room may be the one that shuts the session down.
    func close() async {
        connection.close()
        guard end == nil, roomWaiter == nil else { return }
        let waiter = ValueWaiter<Void>(on: loop)
        closeWaiters.append(waiter)
        _ = await waiter.valueUnlessCancelled()
    }

    func endCloseWaits() {
        for waiter in closeWaiters { _ = waiter.deliver(()) }
        closeWaiters = []
    }
}
