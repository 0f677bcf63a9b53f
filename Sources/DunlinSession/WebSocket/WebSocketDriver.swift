internal import DunlinInflate
internal import DunlinReactor
internal import DunlinWire
internal import Synchronization

/// Drives the machines of one WebSocket connection, on the connection's loop.
///
/// Rules:
/// 1. One task reads, and makes pieces of messages of what arrives. It waits while the backlog is full, also in the
///    middle of what one read brought, so that little input cannot become much memory.
/// 2. A second task writes control frames while there are any. Messages are written by the tasks that send them: one
///    message at a time, frame by frame, and a control frame may go between two.
/// 3. The loop looks at the time, whatever is being read or written. When the connection is over, it is closed at once,
///    and that ends every wait.
/// 4. After an error a task of its own reads and discards what still comes. It may outlive the socket and the scope
///    that had the error, and ends with the connection, which ends with its request.
///
/// It must not know how the connection came to be.
actor WebSocketDriver {
    nonisolated let loop: Reactor
    nonisolated let connection: HTTPSession.UpgradedConnection
    /// The request of the handshake, which lasts as long as the connection.
    nonisolated var request: HTTPSession.TaskID { connection.request }
    /// How the connection ended; nil while it has not. Set once, by the driver.
    nonisolated let ending = AtomicLazyReference<Ending>()

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
    /// Whether the message that has its turn is sent as it is although others are compressed.
    var isPlain = false
    /// The part of a message that its reader has taken, while the rest is on its way.
    var collector = WebSocketCollector()
    /// Whether the last piece that was read by itself has others behind it.
    var isWithinPieces = false

    var timer: UInt64?
    /// Why nothing can be written any more.
    var writeFailure: (any Error)?
    var pings: [WaitingPing] = []
    /// How many messages have been sent, and how many of them before the last ping that was answered.
    var sent = 0
    private(set) var confirmed = 0
    /// How many messages had been sent before the first ping that has not been answered.
    private var sentBeforePing: (ping: UInt64, sent: Int)?
    /// Whether a reader was told that there are no more messages, because the connection was closed.
    var hasToldEnd = false
    var messageWaiter: ValueWaiter<Void>?
    /// Writes control frames; nil while there are none.
    private var controls: Task<Void, Never>?
    var roomWaiter: ValueWaiter<Void>?
    var endWaiters: [ValueWaiter<Void>] = []
    /// Those who wait until whoever reads has found the connection closed, or waits for room.
    var closeWaiters: [ValueWaiter<Void>] = []
    /// The bytes that were read and written since others had the loop.
    private var workSincePause = 0

    final class Ending: Sendable {
        let end: WebSocketEnd

        init(_ end: WebSocketEnd) { self.end = end }
    }

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

    nonisolated var end: WebSocketEnd? { ending.load()?.end }

    /// Runs the connection to its end. Cancelling the task that runs it closes it at once.
    func run() async {
        guard end == nil else { return }
        timer = loop.schedule(self, at: machine.deadline ?? .never)
        // What was asked for before, such as a close.
        changed()
        await read()
        // A cancel reaches what reads by itself. What still writes is a task of its own, and ends with the connection.
        await withTaskCancellationHandler {
            await controls?.value
        } onCancel: {
            connection.close()
        }
        abort()
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
            if machine.discards { Task.detached(executorPreference: loop) { await self.discardInput() } }
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
            case .piece(let piece):
                if machine.delivers, !piece.bytes.isEmpty || piece.isLast { try await take(piece) }
                await letOthersRun(after: Self.frameWork)
            case .control(let control):
                machine.receive(control, at: loop.now())
                answerPings()
                changed()
                await letOthersRun(after: Self.controlFrameWork)
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
        guard machine.delivers, end == nil else { return }
        let action = try content.take(bytes, of: kind, isLast: isLast)
        guard case .deliver(let message, let isLast) = action else { return }
        backlog.add(message, isLast: isLast)
        _ = messageWaiter?.deliver(())
        try await waitForRoom()
    }

    /// Waits while the backlog is full. Once we have said close, what arrives is not kept.
    private func waitForRoom() async throws {
        guard !backlog.mayRead, machine.delivers else { return }
        machine.stopReading()
        while !backlog.mayRead, machine.delivers, end == nil {
            let waiter = ValueWaiter<Void>(on: loop)
            roomWaiter = waiter
            endCloseWaits()
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
        if let (ping, sent) = sentBeforePing, ping <= machine.answeredPing { (confirmed, sentBeforePing) = (sent, nil) }
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
    /// A frame of a message costs as much as so many bytes more, also if it is empty.
    private static let frameWork = 128
    /// A control frame costs as much as so many bytes of a message, however short it is.
    private static let controlFrameWork = 4 * 1024

    /// Lets others have the loop if much has been read or written since they last had it.
    func letOthersRun(after count: Int) async {
        workSincePause += count
        guard workSincePause >= Self.longestWork else { return }
        workSincePause = 0
        await loop.letOthersRun()
    }
}

// MARK: - Control frames

extension WebSocketDriver {
    /// Does what an event may have made due.
    func changed() {
        startControls()
        if !machine.delivers { _ = roomWaiter?.deliver(()) }
        // Whoever would ask for the outcome next may be waiting for the kernel.
        if let outcome = machine.outcome(at: loop.now()) { finish(end(of: outcome)) }
    }

    private func schedule() {
        if let timer, let deadline = machine.deadline { loop.schedule(timer, at: deadline) }
    }

    /// Has control frames written, if any is due and nobody writes them yet. An idle socket needs no task for that.
    private func startControls() {
        guard controls == nil, end == nil else { return schedule() }
        let action = machine.next(at: loop.now())
        schedule()
        if case .wait = action { return }
        controls = Task.detached(executorPreference: loop) { await self.writeControls(action) }
    }

    private func writeControls(_ first: WebSocketMachine.Action) async {
        var action = first
        while end == nil {
            switch action {
            case .end(let outcome): finish(end(of: outcome))
            case .discard(let outcome):
                await endWriting()
                report(end(of: outcome))
            case .write(let control): await write(control)
            case .wait: return controls = nil
            }
            action = machine.next(at: loop.now())
            schedule()
        }
    }

    private func write(_ control: WebSocketControl) async {
        // The connection is over.
        guard await frameTurn() else { return abort() }
        defer { frameTurns.end() }
        do {
            var frame: [UInt8] = []
            try sender.append(control, into: &frame)
            if let number = machine.unwrittenPing { beginPings(upTo: number) }
            try await write(Bytes(frame))
        } catch {
            writingFailed(error)
        }
    }

    /// Those who asked for a later ping wait for the next frame.
    private func beginPings(upTo number: UInt64) {
        let now = loop.now()
        if sentBeforePing == nil { sentBeforePing = (number, sent) }
        for index in pings.indices where pings[index].number <= number && pings[index].writtenAt == nil {
            pings[index].writtenAt = now
        }
    }

    /// Writes a frame, in pieces that are small enough to notice that the peer takes them.
    func write(_ frame: Bytes) async throws {
        var start = 0
        while start < frame.count {
            let end = min(frame.count, start + Self.writtenAtOnce)
            let began = loop.now()
            try await connection.write(frame[start..<end])
            let now = loop.now()
            if now.duration(since: began) >= Self.longWrite { machine.wroteAfterWaiting(at: now) }
            start = end
        }
    }

    private static let writtenAtOnce = 16 * 1024
    /// A write that took so long has waited until the peer took earlier bytes. One that did not wait shows nothing,
    /// since the kernel takes much that it cannot send.
    private static let longWrite = Duration.milliseconds(100)

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
            finish(end(of: outcome))
            return .never
        }
        guard let deadline = machine.deadline, deadline <= now else { return machine.deadline ?? .never }
        // A ping is due.
        startControls()
        return .never
    }
}
