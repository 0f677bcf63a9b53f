import Dunlin
import DunlinTesting

/// Many requests of two sessions at once, through everything that can happen to them. One session has limits of rate,
/// breakers and retries.
struct RequestStorm: Sendable {
    private static let concurrency = 64
    /// A server lasts for so many requests.
    private static let lifetime = 5000

    let count: Int
    /// With them everything goes over TLS.
    let masks: Masks?
    let tally: Tally
    let watchdog: Watchdog

    func run() async throws {
        let loop = try PrivateLoop()
        let faulty = try FaultyServer(tally, masks)
        do {
            let sessions = try [false, true].map {
                try HTTPSession(Self.configuration(on: loop, masks, isResilient: $0))
            }
            for session in sessions { watchdog.watch(session) }
            try await rage(sessions, faulty)
            for session in sessions {
                let left = await session.tasks.all
                if !left.isEmpty { tally.violation("still in the registry: \(left)") }
            }
            try await Resilient.expectRest(sessions[1], tally)
            faulty.stop()
            for session in sessions {
                await quiet(session)
                await session.shutdown()
                if !session.connections.isQuiet { tally.violation("in the pool: \(session.connections)") }
            }
        }
        do { try await loop.verifyNothingLeft(within: .seconds(60)) } catch { tally.violation("\(error)") }
    }

    static func configuration(
        on loop: PrivateLoop, _ masks: Masks?, isResilient: Bool = false
    ) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
        configuration.timeouts = Timeouts(
            pool: .seconds(5), connect: .seconds(2), tls: .milliseconds(500), send: .milliseconds(200),
            firstByte: .milliseconds(200),
            readIdle: .milliseconds(200), total: .seconds(5))
        configuration.connections.perOrigin = 48
        configuration.use(loop)
        masks?.put(on: &configuration)
        if isResilient { Resilient.put(on: &configuration) }
        return configuration
    }

    private func rage(_ sessions: [HTTPSession], _ faulty: FaultyServer) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= Self.concurrency { try await group.next() }
                if number % Self.lifetime == Self.lifetime - 1 { group.addTask { try faulty.replaceServer() } }
                if masks != nil, number % 1000 == 999 {
                    group.addTask { for session in sessions { try session.reloadTLS() } }
                }
                let call = PlannedCall(number, seed: tally.seed, isSecure: masks != nil)
                group.addTask { await Run(call, sessions[number / 4 % 2], tally).go(faulty) }
            }
            try await group.waitForAll()
        }
    }

    /// Nothing runs and no server is there: every idle connection must be noticed and dropped.
    private func quiet(_ session: HTTPSession) async {
        let start = ContinuousClock.now
        while !session.connections.isQuiet, ContinuousClock.now - start < .seconds(60) {
            do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
        }
        if !session.connections.isQuiet { tally.violation("the pool after the storm: \(session.connections)") }
    }
}

extension HTTP.ConnectionGauges {
    /// Nothing is open and nobody waits.
    fileprivate var isQuiet: Bool { open == 0 && waiting == 0 }
}
