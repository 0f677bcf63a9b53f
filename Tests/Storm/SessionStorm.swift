import Dunlin
import DunlinTesting

/// Sessions made and let go of, one after the other, some while their requests are still on their way.
struct SessionStorm: Sendable {
    private static let requests = 10
    private static let lifetime = 100

    let count: Int
    let masks: Masks?
    let tally: Tally
    let watchdog: Watchdog

    func run() async throws {
        let loop = try PrivateLoop()
        let faulty = try FaultyServer(tally, masks)
        // Sessions that come and go share what they learn.
        let shared = RequestStorm.configuration(on: loop, masks, isResilient: true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                // Every tenth brings a loop, and with it a thread, of its own.
                let own = number % 10 == 9 ? try PrivateLoop() : loop
                for run in try await live(number, configuration(number, on: own, shared), faulty) {
                    group.addTask { await run.value }
                }
                if number % Self.lifetime == Self.lifetime - 1 { try faulty.replaceServer() }
            }
            try await group.waitForAll()
        }
        do {
            let last = try HTTPSession(shared)
            try await Resilient.expectRest(last, tally)
            await last.shutdown()
        }
        faulty.stop()
        do { try await loop.verifyNothingLeft(within: .seconds(60)) } catch { tally.violation("\(error)") }
    }

    /// Every fourth session shares its limits and breakers with others, and every fourth has its own.
    private func configuration(
        _ number: Int, on loop: PrivateLoop, _ shared: HTTPSession.Configuration
    ) -> HTTPSession.Configuration {
        if number % 4 == 1, number % 10 != 9 { return shared }
        return RequestStorm.configuration(on: loop, masks, isResilient: number % 4 == 3)
    }

    /// A session's life. The requests that outlive it, or rather the last reference to it that is not theirs.
    private func live(
        _ number: Int, _ configuration: HTTPSession.Configuration, _ faulty: FaultyServer
    ) async throws -> [Task<Void, Never>] {
        let session = try HTTPSession(configuration)
        watchdog.watch(session)
        let endsEarly = number % 3 == 0
        let runs = (0..<Self.requests).map { index in
            let call = PlannedCall(number * Self.requests + index, seed: tally.seed, isSecure: masks != nil)
            return Task { await Run(call, session, tally, mayEndEarly: endsEarly).go(faulty) }
        }
        var dice = SeededGenerator(seed: tally.seed &+ UInt64(number))
        let midFlight = dice.next(below: Self.requests)
        for run in runs[midFlight...] { await run.value }
        if endsEarly { await session.shutdown(grace: .milliseconds(dice.next(below: 10))) }
        return Array(runs[..<midFlight])
    }
}
