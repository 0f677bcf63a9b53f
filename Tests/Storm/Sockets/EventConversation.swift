import Dunlin
import DunlinTesting
import Synchronization

/// What a server answers to those who ask for events: parts of streams that break by plan.
final class StreamReplies: Sendable {
    private let plan: FaultPlan
    /// How often each stream was asked for.
    private let asked = Mutex<[Int: Int]>([:])

    init(_ seed: UInt64) {
        var weights = FaultPlan.Weights()
        (weights.none, weights.unavailable) = (40, 1)
        plan = FaultPlan(seed: seed, weights: weights)
    }

    /// The events of a stream, of which the last says that it is over.
    static func count(of number: Int) -> Int { 1 + number % 17 }

    static func data(_ index: Int, of number: Int) -> String { "\(number) \(index) \u{20AC}\nand more" }

    func reply(_ number: Int, after lastID: String?) -> LoopbackServer.Reply {
        let attempt = asked.withLock { asked in
            defer { asked[number, default: 0] += 1 }
            return asked[number, default: 0]
        }
        let first = lastID.flatMap { Int($0) }.map { $0 + 1 } ?? 0
        let events = (first..<max(first, Self.count(of: number))).map { index in
            let lines = Self.data(index, of: number).split(separator: "\n").map { "data: \($0)\n" }
            return Bytes(": a comment\nid: \(index)\n" + lines.joined() + "\n")
        }
        let fields: Fields = ["Content-Type": "text/event-stream"]
        let end = Bytes("data: over\n\n")
        let reply: LoopbackServer.Reply =
            number % 2 == 0
            ? .chunked(events + [end], fields: fields)
            : .untilClose(Bytes((events + [end]).flatMap(\.array)), fields: fields)
        return reply.suffering(plan.fault(for: number &* 64 &+ attempt, of: "stream"))
    }
}

/// One stream of events, read and judged.
struct EventConversation: Sendable {
    let number: Int
    let seed: UInt64
    let life: SocketLife
    let tally: Tally

    private enum Cancel {
        case never
        case task(Duration)
        case handle(Duration)
        case leaving(after: Int)
    }

    private var label: String { "stream \(number)" }

    private var cancel: Cancel {
        var dice = SeededGenerator(seed: seed &+ UInt64(number) &* 0x1_0000_0007)
        switch dice.next(below: 100) {
        case 0..<8: return .task(.microseconds(dice.next(below: 30_000)))
        case 8..<16: return .handle(.microseconds(dice.next(below: 30_000)))
        case 16..<24: return .leaving(after: dice.next(below: 10))
        default: return .never
        }
    }

    func go(_ server: SocketServer) async {
        let disturbance = Disturbance(life, server)
        let target = server.url("http", .good, "stream/\(number)")
        let result: Result<Int, any Error>
        switch cancel {
        case .task(let delay):
            let task = Task { await outcome(target) }
            await pause(delay)
            task.cancel()
            result = await task.value
        case .handle(let delay):
            async let running = outcome(target)
            await pause(delay)
            let task = await life.session.tasks.all.first { $0.label == label }
            if let task { await life.session.tasks.cancel(task.id) }
            result = await running
        default: result = await outcome(target)
        }
        judge(result, disturbance)
    }

    private func pause(_ duration: Duration) async {
        // Cut short by nobody: the storm's own tasks are never cancelled.
        do { try await Task.sleep(for: duration) } catch { return }
    }

    private func outcome(_ target: HTTP.Target) async -> Result<Int, any Error> {
        do {
            return .success(try await read(target))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the number of events.
    private func read(_ target: HTTP.Target) async throws -> Int {
        var settings = HTTPSession.EventSettings()
        settings.minimumWait = .milliseconds(1)
        var options = HTTPSession.Options(label: label)
        options.retry = .exponential(
            attempts: 12, base: .milliseconds(1), cap: .milliseconds(20), when: [.connectionFailure, .timeout],
            budget: .unlimited)
        var count = 0
        let events = life.session.events(target, until: "over", settings: settings, options: options)
        for try await event in events {
            guard event.data == StreamReplies.data(count, of: number), event.id == "\(count)" else {
                tally.violation("\(label): event \(event.id) instead of \(count)")
                return count
            }
            count += 1
            if case .leaving(let limit) = cancel, count == limit { break }
        }
        return count
    }
}

extension EventConversation {
    private func judge(_ result: Result<Int, any Error>, _ disturbance: Disturbance) {
        switch result {
        case .success(let count):
            tally.count("stream: complete")
            if case .leaving = cancel { return }
            let all = StreamReplies.count(of: number)
            if count != all { tally.violation("\(label): \(count) events of \(all), and no error") }
        case .failure(let error as NetworkError):
            tally.count("stream: \(error.code)")
            if let complaint = complaint(error, disturbance) { tally.violation("\(label): \(complaint): \(error)") }
        case .failure(let error as CancellationError):
            tally.count("stream: CancellationError")
            if case .task = cancel { return }
            tally.violation("\(label): \(error) though nobody cancelled its task")
        case .failure(let error): tally.violation("\(label): \(error)")
        }
    }

    private func complaint(_ error: NetworkError, _ disturbance: Disturbance) -> String? {
        switch error.code {
        case .cancelled:
            if case .handle = cancel { return nil }
            return disturbance.isOver ? nil : "nobody cancelled it"
        case .sessionShutDown: return disturbance.isOver ? nil : "nobody shut the session down"
        // Twelve failures in a row.
        case .timedOut, .connectionClosed, .connectionFailed, .secureConnectionFailed:
            return error.phase == nil ? "no phase is named" : nil
        case .unacceptableStatus: return error.response?.status == .serviceUnavailable ? nil : "a wrong status"
        default: return "unexpected"
        }
    }
}
