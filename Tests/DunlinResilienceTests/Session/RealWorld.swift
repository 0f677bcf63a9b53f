import Dunlin
import DunlinResilience
import DunlinTesting
import SimulatedWorld
import Synchronization

/// The simulation's server and its arrivals, with real sessions between them, on a clock that stops whenever anything
/// happens.
///
/// Rules:
/// 1. The clock moves only when each request has ended, is with the server, or waits for nothing but the time; and
///    never beyond the time at which the first of them goes on. So all happens at its time, on a busy machine too.
/// 2. All randomness is one number, as in the simulation.
final class RealWorld: Sendable {
    private struct State {
        var server: Server
        var courses: [Course] = []
        /// Which requests are with the server, and until when: it answers then, or a limit is over.
        var held: [Int: Int64] = [:]
        var over = 0
    }

    private let scenario: Scenario
    private let chance: UInt64
    private let clock = ManualClock()
    private let state: Mutex<State>

    init(_ scenario: Scenario, chance: UInt64) {
        (self.scenario, self.chance) = (scenario, chance)
        state = Mutex(State(server: Server(scenario.server)))
    }

    /// What each request came to.
    func run(_ arrivals: [Arrival]) async throws -> [Course] {
        let transport = MockTransport(clock: clock)
        transport.otherwise { [self] in try await answer(to: $0) }
        let sessions = try (0..<scenario.clients).map { _ in try session(over: transport) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, arrival) in arrivals.enumerated() {
                while now < arrival.time { try await advance(to: arrival.time) }
                state.withLock { $0.courses.append(Course(began: now)) }
                group.addTask { [self] in await request(index, by: sessions[arrival.client]) }
                try await rest()
            }
            while state.withLock({ $0.over < $0.courses.count }) { try await advance(to: .max) }
        }
        for session in sessions { await session.shutdown() }
        return state.withLock { $0.courses }
    }

    private func session(over transport: MockTransport) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        try configuration.use(clock)
        let chance = chance
        configuration.random = { chance }
        configuration.timeouts.total = .nanoseconds(scenario.totalLimit)
        configuration.timeouts.attempt = .nanoseconds(scenario.attemptLimit)
        configuration.resilience = .standard
        return try HTTPSession(configuration)
    }

    private var now: Int64 {
        let (seconds, attoseconds) = clock.now.offset.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

// MARK: - Time

extension RealWorld {
    /// Moves the clock to where the first request goes on, but not beyond `limit`.
    private func advance(to limit: Int64) async throws {
        let waits = clock.requestWaits.map { $0.offset }.min()
        let held = state.withLock { $0.held.values.min() }.map { Duration.nanoseconds($0) }
        let next = min(waits ?? .nanoseconds(limit), held ?? .nanoseconds(limit), .nanoseconds(limit))
        try await clock.advance(by: next - clock.now.offset)
        try await rest()
    }

    /// Returns when nothing happens before the clock is moved.
    private func rest() async throws {
        try await eventually("each request waits", following: clock) {
            let (now, waiting, sleeping) = (now, clock.requestWaits.count, clock.sleeping)
            return state.withLock { state in
                state.held.values.allSatisfy { $0 > now } && sleeping == state.held.count
                    && waiting + state.held.count + state.over == state.courses.count
            }
        }
    }
}

// MARK: - Requests

extension RealWorld {
    private func request(_ index: Int, by session: HTTPSession) async {
        let end: Course.End
        do {
            _ = try await session.get("\(index)", as: .string)
            end = .succeeded
        } catch let error as NetworkError {
            end =
                switch error.code {
                case .circuitOpen: .refusedByBreaker
                case .rateLimited: .refusedAtLimit
                case .timedOut where error.exceeded == .total: .outOfTime
                default: .failed
                }
        } catch {
            end = .failed
        }
        let now = now
        state.withLock { state in
            (state.courses[index].end, state.courses[index].ended) = (end, now)
            state.over += 1
        }
    }

    private func answer(to request: MockTransport.RecordedRequest) async throws -> MockTransport.Outcome {
        guard let index = Int(request.path.dropFirst()) else { return .respond(.notFound) }
        let now = now
        var random = Random(always: chance)
        let (job, begun) = state.withLock { state -> (Job, (Answer?, Int64)) in
            state.courses[index].sent.append(now)
            let job = Job(request: index, attempt: state.courses[index].sent.count)
            if let answer = state.server.take(job, at: now) { return (job, (answer, 0)) }
            return (job, (nil, state.server.begin(at: now, &random)?.time ?? 0))
        }
        if let answer = begun.0 { return outcome(answer) }
        try await hold(index, until: now + begun.1, sent: now)
        let (answer, delay) = state.withLock { $0.server.end(job, at: now + begun.1, &random) }
        if delay > 0 { try await hold(index, until: now + begun.1 + delay, sent: now) }
        return outcome(answer)
    }

    private func hold(_ index: Int, until end: Int64, sent: Int64) async throws {
        state.withLock { state in
            let limits = min(sent + scenario.attemptLimit, state.courses[index].began + scenario.totalLimit)
            state.held[index] = min(end, limits)
        }
        defer { state.withLock { $0.held[index] = nil } }
        try await clock.sleep(for: .nanoseconds(end) - clock.now.offset)
    }

    private func outcome(_ answer: Answer) -> MockTransport.Outcome {
        switch answer {
        case .good(let limit): .respond(fields: limit.map { Self.fields($0) } ?? Fields(), body: "ok")
        case .limited(let limit, let retryAfter):
            .respond(.tooManyRequests, fields: Self.fields(limit, retryAfter: retryAfter / 1_000_000_000))
        case .lost: .fail(.connectionRefused)
        case .overloaded, .timedOut: .respond(.serviceUnavailable)
        }
    }

    private static func fields(_ limit: LearnedLimit, retryAfter: Int64? = nil) -> Fields {
        var fields = Fields()
        fields.append(name: "RateLimit-Policy", value: "\"all\";q=\(limit.quota ?? 0);w=\(seconds(limit.window))")
        fields.append(name: "RateLimit", value: "\"all\";r=\(limit.remaining ?? 0);t=\(seconds(limit.reset))")
        if let retryAfter { fields.append(name: "Retry-After", value: "\(retryAfter)") }
        return fields
    }

    private static func seconds(_ duration: Duration?) -> Int64 { duration?.components.seconds ?? 0 }
}
