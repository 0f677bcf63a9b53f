import Dunlin
import DunlinTesting
import Synchronization

/// Many requests of one session over a token that expires again and again, with cancels and short deadlines among them.
struct LoginStorm: Sendable {
    private static let concurrency = 64
    private static let lifetime = 500

    let count: Int
    let tally: Tally
    let watchdog: Watchdog

    func run() async throws {
        let loop = try PrivateLoop()
        var configuration = LoopbackServer.Configuration()
        // What it has recorded of ten thousand requests would count as left behind.
        configuration.recordsRequests = false
        let server = try LoopbackServer(configuration: configuration)
        let tokens = Tokens(lifetime: Self.lifetime, tally)
        server.respond { tokens.answer($0) }
        let before = tally.progress.load(ordering: .relaxed)
        do {
            let session = try HTTPSession(Self.configuration(on: loop, server))
            watchdog.watch(session)
            try await rage(session)
            // A refresh that nobody waits for any more may still be on its way.
            let left = await PromiseStorm.left(in: session)
            if !left.isEmpty { tally.violation("still in the registry: \(left)") }
            await session.shutdown()
            if session.connections.open != 0 { tally.violation("in the pool: \(session.connections)") }
        }
        server.stop()
        let answered = tally.progress.load(ordering: .relaxed) - before
        if answered != count { tally.violation("\(answered) answers to \(count) requests") }
        tokens.settle()
        do { try await loop.verifyNothingLeft(within: .seconds(60)) } catch { tally.violation("\(error)") }
    }

    private static func configuration(on loop: PrivateLoop, _ server: LoopbackServer) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.connections.perOrigin = 48
        configuration.authentication = .bearer { client in
            // Long enough for others to come, to wait, and to leave.
            try await Task.sleep(for: .milliseconds(3))
            return .init(try await client.post("token", as: .string).value)
        }
        configuration.use(loop)
        return configuration
    }

    private func rage(_ session: HTTPSession) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= Self.concurrency { try await group.next() }
                group.addTask { await run(number, session) }
            }
            try await group.waitForAll()
        }
    }

    private enum Fate: Equatable {
        case normal
        case taskCancelled(Duration)
        case tagCancelled(Duration)
        case deadline(Duration)
    }

    private func run(_ number: Int, _ session: HTTPSession) async {
        var dice = SeededGenerator(seed: tally.seed &+ UInt64(number))
        let moment = Duration.microseconds(dice.next(below: 6000))
        let fate: Fate =
            switch dice.next(below: 16) {
            case 0, 1: .taskCancelled(moment)
            case 2: .tagCancelled(moment)
            case 3, 4: .deadline(moment + .microseconds(1))
            default: .normal
            }
        let options = HTTPSession.Options(tags: ["\(number)"])
        var limit = Duration.seconds(30)
        if case .deadline(let time) = fate { limit = time }
        let request = Task { [limit] in
            try await session.get("x", timeout: limit, options: options, as: .string).value
        }
        switch fate {
        case .normal, .deadline: break
        case .taskCancelled(let time):
            await pause(time)
            request.cancel()
        case .tagCancelled(let time):
            await pause(time)
            await session.tasks.cancel(tagged: "\(number)")
        }
        judge(await request.result, fate, number)
    }

    private func pause(_ duration: Duration) async {
        // Cut short by nobody: the storm's own tasks are never cancelled.
        do { try await Task.sleep(for: duration) } catch { return }
    }

    private func judge(_ outcome: Result<String, any Error>, _ fate: Fate, _ number: Int) {
        switch (outcome, fate) {
        case (.success("in"), _): tally.count("in")
        case (.failure(is CancellationError), .taskCancelled): tally.count("CancellationError")
        case (.failure(let error as NetworkError), .tagCancelled) where error.code == .cancelled:
            tally.count("cancelled")
        case (.failure(let error as NetworkError), .deadline) where error.code == .timedOut: tally.count("timedOut")
        default:
            tally.count("wrong")
            tally.violation("request \(number), \(fate): \(outcome)")
        }
    }
}

/// A server's tokens: each lets so many requests in.
private final class Tokens: Sendable {
    private struct State {
        var newest = 0
        var left = 0
        var expiries = 0
    }

    private let state = Mutex(State())
    private let lifetime: Int
    private let tally: Tally

    init(lifetime: Int, _ tally: Tally) {
        self.lifetime = lifetime
        self.tally = tally
    }

    func answer(_ request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        state.withLock { state in
            if request.target == "/token" {
                if state.left > 0 { tally.violation("a token was got though the last one was good") }
                state.newest += 1
                state.left = lifetime
                return .response(body: Bytes("\(state.newest)"))
            }
            guard state.left > 0, request.fields["authorization"] == "Bearer \(state.newest)" else {
                return .response(401, body: "out")
            }
            state.left -= 1
            if state.left == 0 { state.expiries += 1 }
            return .response(body: "in")
        }
    }

    /// One refresh for each expiry, and one for the beginning; the last expiry may have been nobody's.
    func settle() {
        let (newest, expiries) = state.withLock { ($0.newest, $0.expiries) }
        if newest - expiries < 0 || newest - expiries > 1 {
            tally.violation("\(newest) tokens for \(expiries) expiries")
        }
        tally.note("\(newest) tokens, of which \(expiries) expired")
    }
}
