import Dunlin
import DunlinTesting
import Synchronization

/// One WebSocket, used and judged.
struct Conversation: Sendable {
    /// How it went when nothing was thrown.
    enum Outcome: Sendable {
        case complete(HTTPSession.WebSocket.CloseCode?)
        case left
    }

    private struct Left: Error {}

    /// What the one who judges must know of the one who talks.
    final class Progress: Sendable {
        private let state = Mutex((isOpen: false, count: 0))

        var isOpen: Bool { state.withLock { $0.isOpen } }
        var count: Int { state.withLock { $0.count } }
        func opened() { state.withLock { $0.isOpen = true } }
        func received() { state.withLock { $0.count += 1 } }
    }

    let plan: PlannedSocket
    let life: SocketLife
    let tally: Tally
    private let progress = Progress()

    init(_ plan: PlannedSocket, _ life: SocketLife, _ tally: Tally) {
        (self.plan, self.life, self.tally) = (plan, life, tally)
    }

    private var session: HTTPSession { life.session }
    private var label: String { "socket \(plan.number)" }

    /// Returns when it has ended, however it did.
    func go(_ server: SocketServer) async {
        let disturbance = Disturbance(life, server)
        let target = server.url("ws", plan.host, "socket/\(plan.number)")
        let result: Result<Outcome, any Error>
        switch plan.cancel {
        case .task(let delay):
            let task = Task { await outcome(target) }
            await pause(delay)
            task.cancel()
            result = await task.value
        case .handle(let delay):
            async let running = outcome(target)
            await pause(delay)
            let task = await session.tasks.all.first { $0.label == label }
            if let task { await session.tasks.cancel(task.id) }
            result = await running
        default: result = await outcome(target)
        }
        SocketJudge(plan, label, tally, disturbance, progress).judge(result)
    }

    private func pause(_ duration: Duration) async {
        // Cut short by nobody: the storm's own tasks are never cancelled.
        do { try await Task.sleep(for: duration) } catch { return }
    }

    private func outcome(_ target: HTTP.Target) async -> Result<Outcome, any Error> {
        do {
            return .success(try await run(target))
        } catch is Left {
            return .success(.left)
        } catch {
            return .failure(error)
        }
    }

    private func run(_ target: HTTP.Target) async throws -> Outcome {
        var settings = HTTPSession.WebSocketSettings()
        (settings.pingInterval, settings.pongLimit) = (.milliseconds(150), .milliseconds(250))
        (settings.closeLimit, settings.backlogLimit) = (.milliseconds(250), 64 * 1024)
        settings.compression = plan.isCompressed ? .init(level: 1) : nil
        let options = HTTPSession.Options(label: label)
        if case .releasing(let count) = plan.cancel {
            let socket = try await session.webSocket(target, settings: settings, options: options)
            progress.opened()
            return try await talk(socket, leavingAfter: count) ? .left : .complete(socket.closeCode)
        }
        return try await session.withWebSocket(target, settings: settings, options: options) { socket in
            progress.opened()
            guard case .leaving(let count, let throwing) = plan.cancel else {
                _ = try await talk(socket, leavingAfter: nil)
                if socket.isOpen { try await socket.close() }
                return .complete(socket.closeCode)
            }
            guard try await talk(socket, leavingAfter: count) else { return .complete(socket.closeCode) }
            if throwing { throw Left() }
            return .left
        }
    }

    /// Returns whether it was left before its end.
    private func talk(_ socket: HTTPSession.WebSocket, leavingAfter limit: Int?) async throws -> Bool {
        async let sent: Void = send(over: socket)
        var expected = ExpectedMessages(plan)
        var messages = socket.messages.makeAsyncIterator()
        while progress.count != limit {
            if plan.isEndedByClient, expected.isComplete { break }
            guard let message = try await messages.next() else { break }
            guard expected.take(message) else {
                tally.violation("\(label): a wrong message of \(message.bytes.count) after \(progress.count)")
                return true
            }
            progress.received()
            if plan.isSlowReader { try await Task.sleep(for: .microseconds(200)) }
        }
        if progress.count == limit { return true }
        try await sent
        return false
    }

    private func send(over socket: HTTPSession.WebSocket) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in 0..<PlannedSocket.senders {
                group.addTask {
                    for index in 0..<plan.sent { try await socket.send(plan.sentMessage(index, of: sender)) }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// What must come: the server's messages in order, then what each sender sent, in its order.
private struct ExpectedMessages {
    private let plan: PlannedSocket
    private var told = 0
    private var echoed = [Int](repeating: 0, count: PlannedSocket.senders)

    init(_ plan: PlannedSocket) { self.plan = plan }

    var isComplete: Bool { told == plan.told && echoed.allSatisfy { $0 == plan.sent } }

    mutating func take(_ message: HTTP.WebSocketMessage) -> Bool {
        if told < plan.told {
            guard message == plan.toldMessage(told) else { return false }
            told += 1
            return true
        }
        for sender in echoed.indices where echoed[sender] < plan.sent {
            guard message == plan.sentMessage(echoed[sender], of: sender) else { continue }
            echoed[sender] += 1
            return true
        }
        return false
    }
}
