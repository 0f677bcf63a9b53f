internal import DunlinInflate
internal import DunlinReactor
internal import DunlinWire
internal import Synchronization

/// Drives the machines of one WebSocket connection, on the connection's loop.
///
/// Rules:
/// 1. One task reads, and makes pieces of messages of what arrives. It waits while the backlog is full, also in the
///    middle of what one read brought, so that little input cannot become much memory.
/// 2. A second task writes control frames. Messages are written by the tasks that send them: one message at a time,
///    frame by frame, and a control frame may go between two.
/// 3. The loop looks at the time, whatever is being read or written. When the connection is over, it is closed at once,
///    and that ends every wait.
///
/// It must not know how the connection came to be.
actor WebSocketDriver {
    nonisolated let loop: Reactor
    nonisolated let connection: HTTPSession.UpgradedConnection
    /// How the connection ended; nil while it has not.
    nonisolated let ending = Mutex<WebSocketEnd?>(nil)

    let settings: HTTPSession.WebSocketSettings
    var machine: WebSocketMachine
    private var receiver: WebSocketReceiveMachine
    private var content: WebSocketMessageMachine
    var backlog: WebSocketBacklog
    var sender = WebSocketSendMachine(masks: WebSocketMasks())
    var compression: WebSocketCompression?

    var messageTurns = WebSocketTurns()
    var frameTurns = WebSocketTurns()
    /// Whether a part of a message has been sent, and not all of it.
    var isWithinMessage = false
    /// The part of a message that its reader has taken, while the rest is on its way.
    var collector = WebSocketCollector()
    /// Whether the last piece that was read by itself has others behind it.
    var isWithinPieces = false

    private var timer: UInt64?
    /// When the control frame that is being written had its turn to wait for.
    private var controlSince: HTTP.Instant?
    var pings: [WaitingPing] = []
    var messageWaiter: ValueWaiter<Void>?
    private var controlWaiter: ValueWaiter<Void>?
    private var roomWaiter: ValueWaiter<Void>?
    private var endWaiters: [ValueWaiter<Void>] = []
    /// The bytes that were read and written since others had the loop.
    private var workSincePause = 0

    struct WaitingPing {
        let number: UInt64
        let waiter: ValueWaiter<Duration?>
        var writtenAt: HTTP.Instant?
    }

    init(
        _ connection: HTTPSession.UpgradedConnection, _ settings: HTTPSession.WebSocketSettings,
        _ deflate: WebSocketDeflate?
    ) throws(WebSocketError) {
        (self.connection, self.settings, loop) = (connection, settings, connection.loop)
        let limits = settings.limits
        machine = WebSocketMachine(times: settings.times, at: connection.loop.now())
        receiver = WebSocketReceiveMachine(limits: limits, allowsCompression: deflate != nil)
        content = WebSocketMessageMachine(.pieces, limits: limits)
        backlog = WebSocketBacklog(limits: limits)
        guard let deflate else { return }
        do throws(InflateError) {
            let level = settings.compression?.level ?? 6
            compression = try WebSocketCompression(deflate, level: level, limit: limits.messageBytes)
        } catch {
            throw WebSocketError(error)
        }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    nonisolated var end: WebSocketEnd? { ending.withLock { $0 } }

    /// Runs the connection to its end. Cancelling the task that runs it closes it at once.
    func run() async {
        guard end == nil else { return }
        timer = loop.schedule(self, at: machine.deadline ?? .never)
        async let controls: Void = writeControls()
        await read()
        await controls
        finish(.failed(NetworkError.closedHere))
    }
}

// MARK: - Reading

extension WebSocketDriver {
    private func read() async {
        do {
            while end == nil {
                try await waitForRoom()
                guard let bytes = try await connection.read() else {
                    machine.streamEnded()
                    break
                }
                machine.receivedBytes(at: loop.now())
                try await take(bytes)
                await letOthersRun(after: bytes.count)
            }
        } catch let error as WebSocketError {
            machine.fail(error, at: loop.now())
        } catch {
            lose(error)
        }
        changed()
    }

    private func take(_ bytes: Bytes) async throws {
        receiver.feed(bytes)
        while end == nil {
            switch receiver.next() {
            case .read: return
            case .fail(let error): throw error
            case .piece(let piece): if machine.isOpen { try await take(piece) }
            case .control(let control):
                machine.receive(control, at: loop.now())
                answerPings()
                changed()
            }
        }
    }

    private func take(_ piece: WebSocketPiece) async throws {
        guard piece.isCompressed else { return try await add(piece.bytes, of: piece.kind, isLast: piece.isLast) }
        compression?.inflater.feed(piece.bytes, isLast: piece.isLast)
        while let output = try inflate() { try await add(output, of: piece.kind, isLast: false) }
        if piece.isLast { try await add(.empty, of: piece.kind, isLast: true) }
    }

    private func inflate() throws(WebSocketError) -> Bytes? {
        do throws(InflateError) {
            return try compression?.inflater.next()
        } catch {
            throw WebSocketError(error)
        }
    }

    private func add(_ bytes: Bytes, of kind: WebSocketMessage.Kind, isLast: Bool) async throws {
        // A message that is cut off by our own close frame is nobody's.
        guard machine.isOpen, end == nil else { return }
        let action = try content.take(bytes, of: kind, isLast: isLast)
        guard case .deliver(let message, let isLast) = action else { return }
        backlog.add(message, isLast: isLast)
        _ = messageWaiter?.deliver(())
        try await waitForRoom()
    }

    /// Waits while the backlog is full. Once we have said close, what arrives is not kept.
    private func waitForRoom() async throws {
        guard !backlog.mayRead, machine.isOpen else { return }
        machine.stopReading()
        while !backlog.mayRead, machine.isOpen, end == nil {
            let waiter = ValueWaiter<Void>(on: loop)
            roomWaiter = waiter
            let isTold: Void? = await waiter.valueUnlessCancelled()
            roomWaiter = nil
            if isTold == nil { throw CancellationError() }
        }
        machine.resumeReading(at: loop.now())
        changed()
    }

    /// Notes that the backlog has become smaller.
    func madeRoom() {
        if backlog.mayRead { _ = roomWaiter?.deliver(()) }
    }

    private func answerPings() {
        let now = loop.now()
        for ping in pings where ping.number <= machine.answeredPing {
            _ = ping.waiter.deliver(now.duration(since: ping.writtenAt ?? now))
        }
        pings.removeAll { $0.number <= machine.answeredPing }
    }
}

// MARK: - The loop

extension WebSocketDriver {
    /// A peer that is always ready, and work that outlasts the network, would otherwise keep the loop from everybody.
    private static let longestWork = 64 * 1024

    /// Lets others have the loop if much has been read or written since they last had it.
    func letOthersRun(after count: Int) async {
        workSincePause += count
        guard workSincePause >= Self.longestWork else { return }
        workSincePause = 0
        await Task.yield()
        loop.look()
    }
}

// MARK: - Control frames

extension WebSocketDriver {
    /// Does what an event may have made due.
    func changed() {
        schedule()
        _ = controlWaiter?.deliver(())
        if !machine.isOpen { _ = roomWaiter?.deliver(()) }
    }

    private func schedule() {
        if let timer, let deadline = machine.deadline { loop.schedule(timer, at: deadline) }
    }

    private func writeControls() async {
        while end == nil {
            let action = machine.next(at: loop.now())
            schedule()
            switch action {
            case .end(let outcome): finish(WebSocketEnd(outcome))
            case .write(let control):
                controlSince = loop.now()
                await write(control)
                controlSince = nil
            case .wait:
                let waiter = ValueWaiter<Void>(on: loop)
                controlWaiter = waiter
                // A cancelled task reads no more, which ends the connection.
                if await waiter.valueUnlessCancelled() == nil { return }
            }
        }
    }

    private func write(_ control: WebSocketControl) async {
        guard await frameTurn() else { return }
        defer { frameTurns.end() }
        do {
            var frame: [UInt8] = []
            try sender.append(control, into: &frame)
            if case .ping = control {
                let now = loop.now()
                for index in pings.indices where pings[index].writtenAt == nil { pings[index].writtenAt = now }
            }
            try await connection.write(Bytes(frame))
        } catch {
            lose(error)
        }
    }

    /// Waits for the turn to write a frame. Returns false if the task was cancelled before.
    func frameTurn() async -> Bool {
        guard let waiter = frameTurns.ask(on: loop) else { return true }
        return await waiter.valueUnlessCancelled() != nil
    }
}

// MARK: - Time

extension WebSocketDriver: Timed {
    nonisolated func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant {
        assumeIsolated { $0.timePassed(at: now) }
    }

    private func timePassed(at now: HTTP.Instant) -> HTTP.Instant {
        if let outcome = machine.outcome(at: now) {
            finish(WebSocketEnd(outcome))
            return .never
        }
        guard let deadline = machine.deadline, deadline <= now else { return machine.deadline ?? .never }
        _ = controlWaiter?.deliver(())
        // A ping is due. While another control frame cannot be written, it cannot either.
        guard let controlSince else { return .never }
        let limit = controlSince.advanced(by: settings.pongLimit)
        if limit > now { return limit }
        finish(WebSocketEnd(.failed(.noPong)))
        return .never
    }
}

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

    /// Closes the connection without a word.
    func abort() { finish(.failed(NetworkError.closedHere)) }

    /// Notes that the connection cannot be used any more. Once both sides have said close, nobody needs it.
    func lose(_ error: any Error) {
        if !machine.isOpen {
            machine.streamEnded()
            if let outcome = machine.outcome(at: loop.now()) { return finish(WebSocketEnd(outcome)) }
        }
        finish(.failed(error is CancellationError ? NetworkError.closedHere : error))
    }

    /// Ends the connection, once.
    private func finish(_ end: WebSocketEnd) {
        let isFirst = ending.withLock { ending in
            defer { ending = ending ?? end }
            return ending == nil
        }
        guard isFirst else { return }
        connection.close()
        if let timer { loop.forget(timer) }
        timer = nil
        for waiter in [messageWaiter, controlWaiter, roomWaiter] { _ = waiter?.deliver(()) }
        for waiter in endWaiters { _ = waiter.deliver(()) }
        for ping in pings { _ = ping.waiter.deliver(nil) }
        // Whoever waits behind a message that is not going on finds the end.
        messageTurns.endAll()
        (endWaiters, pings) = ([], [])
    }
}
