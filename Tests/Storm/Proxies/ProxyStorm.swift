import Dunlin
import DunlinTesting
import Synchronization

/// Many requests of one session at once, for two origins, through a proxy that fails, dies and comes back.
struct ProxyStorm: Sendable {
    private static let concurrency = 64
    /// A proxy lasts for so many requests.
    private static let lifetime = 400
    private static let (perOrigin, total) = (12, 30)

    let count: Int
    let masks: Masks
    let tally: Tally
    let watchdog: Watchdog

    func run() async throws {
        let loop = try PrivateLoop()
        let faulty = try FaultyProxy(masks)
        let before = tally.progress.load(ordering: .relaxed)
        do {
            let session = try HTTPSession(configuration(on: loop))
            watchdog.watch(session)
            try await rage(session, faulty)
            faulty.stop()
            await quiet(session)
            await session.shutdown()
        }
        let answered = tally.progress.load(ordering: .relaxed) - before
        if answered != count { tally.violation("\(answered) ends of \(count) requests") }
        do { try await loop.verifyNothingLeft(within: .seconds(60)) } catch { tally.violation("\(error)") }
    }

    private func configuration(on loop: PrivateLoop) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
        configuration.timeouts = Timeouts(
            pool: .seconds(5), connect: .seconds(2), tunnel: .milliseconds(300), tls: .milliseconds(500),
            send: .milliseconds(300), firstByte: .milliseconds(300), readIdle: .milliseconds(300), total: .seconds(5))
        configuration.connections.perOrigin = Self.perOrigin
        configuration.connections.total = Self.total
        configuration.use(loop)
        masks.put(on: &configuration)
        return configuration
    }

    private func rage(_ session: HTTPSession, _ faulty: FaultyProxy) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= Self.concurrency { try await group.next() }
                if number % Self.lifetime == Self.lifetime - 1 { group.addTask { try await faulty.replaceProxy() } }
                if number % 100 == 99 { check(await session.gauges()) }
                let call = ProxyCall(number, seed: tally.seed)
                group.addTask { await ProxyRun(call, session, tally).go(faulty) }
            }
            try await group.waitForAll()
        }
    }

    private func check(_ gauges: HTTPSession.Gauges) {
        guard let pool = gauges.pool else { return tally.violation("no gauges of the pool") }
        if pool.total.open > Self.total { tally.violation("\(pool.total.open) connections in all") }
        for (origin, connections) in pool.origins where connections.leased > Self.total || connections.leased < 0 {
            tally.violation("\(origin): \(connections)")
        }
    }

    /// Nothing runs and nobody is there: every idle connection must be noticed and dropped, and nothing be counted.
    private func quiet(_ session: HTTPSession) async {
        let start = ContinuousClock.now
        while session.connections.open > 0, ContinuousClock.now - start < .seconds(60) {
            do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
        }
        let gauges = await session.gauges()
        let (pool, left) = (gauges.pool?.total, await session.tasks.all)
        if !left.isEmpty || gauges.requests != 0 || gauges.queued != 0 { tally.violation("still running: \(left)") }
        let counts = pool.map { [$0.open, $0.idle, $0.waiting, $0.inResolve, $0.inConnect, $0.inProxy, $0.inTLS] }
        if counts?.contains(where: { $0 != 0 }) != false { tally.violation("the pool after the storm: \(gauges)") }
        if let pool { tally.note("connections: \(pool.opened) opened, \(pool.reuses) reuses, \(pool.failed) failed") }
    }
}
