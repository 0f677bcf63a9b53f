import DunlinReactor
import DunlinTesting
import DunlinTypes
import Glibc
import Synchronization
import Testing

@testable import DunlinTransport

/// A pool on a loop of its own with manual time, and connections over socket pairs.
private final class Bench: Sendable {
    static let origin = HTTP.Origin(scheme: .http, host: "a")

    let time = ManualTime()
    let reactor: Reactor
    let pool: Pool
    /// The far ends, by connection.
    private let peers = Mutex<[UInt64: Int32]>([:])

    init(cap: Int, total: Int = 1000) throws {
        reactor = try Reactor(time: .manual(time))
        pool = Pool(limits: .init(connectionsPerOrigin: cap, connections: total, idleTime: 100), reactor: reactor)
    }

    deinit {
        for (_, peer) in peers.withLock({ $0 }) { Glibc.close(peer) }
        reactor.retire()
    }

    func open(to origin: HTTP.Origin = origin) throws -> Connection {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno.last }
        let channel = try Channel(Socket(adopting: ends[0]), on: reactor, unsolicited: pool.announcements)
        peers.withLock { $0[channel.id] = ends[1] }
        return Connection(.plain(channel), to: origin, at: HTTP.Hop.Peer(.unix("pair")))
    }

    func hangUp(_ id: UInt64) {
        if let peer = peers.withLock({ $0[id] }) { shutdown(peer, Int32(SHUT_RDWR)) }
    }

    /// A connection that was opened by right and is idle now.
    func idleConnection() throws -> UInt64 {
        guard case .now(.opening) = try lease() else { throw Errno(rawValue: EBUSY) }
        let connection = try open()
        giveBack(connection)
        return connection.id
    }

    func lease(
        _ origin: HTTP.Origin = origin, mayReuse: Bool = true, standing: PoolStanding = .waits
    ) throws -> Pool.Offer {
        try pool.lease(origin, on: reactor, at: time.now, mayReuse: mayReuse) { standing }
    }
    func giveBack(_ connection: Connection) { pool.giveBack(connection, at: time.now) }
    func discard(_ origin: HTTP.Origin = origin) { pool.discard(origin) }

    /// A place in line, waited in at once; in a word, how that ended.
    func wait(until deadline: HTTP.Instant = .never, _ cancellation: Cancellation = Cancellation()) async throws
        -> String
    {
        guard case .later(let position) = try lease() else { return "not in line" }
        do {
            switch try await pool.wait(in: position, until: deadline, cancellation) {
            case .existing(let connection):
                giveBack(connection)
                return "connection"
            case .opening, .openingBeyond:
                discard()
                return "opening"
            }
        } catch {
            return "\(error)"
        }
    }

    /// Comes back once the pool looks like this.
    func reach(open: Int, idle: Int, waiting: Int) async throws {
        try await eventually("open \(open), idle \(idle), waiting \(waiting)", following: Turns(of: reactor)) {
            counts == [open, idle, waiting]
        }
    }

    var counts: [Int] {
        let gauges = pool.gauges
        return [gauges.open, gauges.idle, gauges.waiting]
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Pool of connections` {
    @Test func `a connection that was given back is used again`() throws {
        let bench = try Bench(cap: 1)
        let id = try bench.idleConnection()
        guard case .now(.existing(let connection)) = try bench.lease() else {
            Issue.record("an idle connection was not lent")
            return
        }
        #expect(connection.id == id)
        #expect(bench.counts == [1, 0, 0])
    }

    private enum Event: String, CaseIterable, Sendable {
        case givenBack = "connection"
        case gone = "opening"
        case deadline = "timedOut"
        case cancel = "cancelled"
        case close = "closed"
    }

    @Test(arguments: Event.allCases)
    private func `a wait ends with each event, and leaves nobody in the queue`(event: Event) async throws {
        let bench = try Bench(cap: 1)
        _ = try bench.lease()
        let connection = try bench.open()
        let cancellation = Cancellation()
        let deadline = bench.time.now.advanced(by: 10)
        async let outcome = bench.wait(until: deadline, cancellation)
        try await bench.reach(open: 1, idle: 0, waiting: 1)
        switch event {
        case .givenBack: bench.giveBack(connection)
        case .gone: bench.discard()
        case .deadline: bench.time.advance(by: 10)
        case .cancel: cancellation.cancel(.handle)
        case .close: await bench.pool.close()
        }
        #expect(try await outcome == event.rawValue)
        #expect(bench.pool.gauges.waiting == 0)
    }

    @Test func `an idle connection that the server ends is dropped`() async throws {
        let bench = try Bench(cap: 1)
        bench.hangUp(try bench.idleConnection())
        try await bench.reach(open: 0, idle: 0, waiting: 0)
        #expect(bench.reactor.ledger.openChannels == 0)
    }

    @Test func `a connection that has been idle for too long is closed`() async throws {
        let bench = try Bench(cap: 1)
        _ = try bench.idleConnection()
        bench.time.advance(by: 99)
        await withTaskExecutorPreference(bench.reactor) { await Task.yield() }
        #expect(bench.pool.gauges.open == 1)
        bench.time.advance(by: 1)
        try await bench.reach(open: 0, idle: 0, waiting: 0)
    }

    @Test func `a closed pool closes idle connections at once, and lent ones when they come back`() async throws {
        let bench = try Bench(cap: 2)
        _ = try bench.lease()
        let lent = try bench.open()
        _ = try bench.idleConnection()
        await bench.pool.close()
        #expect(throws: PoolFailure.self) { try bench.lease() }
        #expect(bench.reactor.ledger.openChannels == 1)
        bench.giveBack(lent)
        #expect(bench.reactor.ledger.openChannels == 0)
    }

    /// Waiters give up, connections come back and go, all at once: no right and no connection gets lost on the way.
    @Test(arguments: [(1, 2, 1000), (3, 2, 1000), (3, 2, 3), (4, 2, 1), (2, 9, 4)])
    func `the pool loses nothing when many are cancelled at once`(origins: Int, cap: Int, total: Int) async throws {
        let bench = try Bench(cap: cap, total: total)
        await withThrowingTaskGroup { group in
            for worker in 0..<8 { group.addTask { try await work(worker, of: origins, on: bench) } }
        }
        #expect(bench.pool.gauges.waiting == 0)
        #expect(bench.pool.gauges.open == bench.pool.gauges.idle)
        #expect(bench.pool.gauges.open == bench.reactor.ledger.openChannels)
        #expect(bench.pool.gauges.open <= min(cap * origins, total))
        await bench.pool.close()
        #expect(bench.reactor.ledger.openChannels == 0)
    }

    @concurrent private func work(_ worker: Int, of origins: Int, on bench: Bench) async throws {
        var random = SeededGenerator(seed: UInt64(worker))
        for _ in 0..<500 {
            let origin = HTTP.Origin(scheme: .http, host: "h\(Int.random(in: 0..<origins, using: &random))")
            let mayReuse = Int.random(in: 0..<4, using: &random) > 0
            let source: Pool.Source
            let standings = [PoolStanding.waits, .waits, .exceeds, .exceedsOrWaits]
            let standing = standings[Int.random(in: 0..<4, using: &random)]
            switch try bench.lease(origin, mayReuse: mayReuse, standing: standing) {
            case .now(let found): source = found
            case .later(let position):
                #expect(standing != .exceeds)
                let cancellation = Cancellation()
                async let cancelled: Void = cancel(cancellation, if: Bool.random(using: &random))
                do {
                    source = try await bench.pool.wait(in: position, until: .never, cancellation)
                } catch {
                    await cancelled
                    continue
                }
                await cancelled
            }
            if case .existing = source { #expect(mayReuse) }
            try await use(source, of: origin, on: bench, keeps: Int.random(in: 0..<4, using: &random) > 0)
        }
    }

    private func cancel(_ cancellation: Cancellation, if isWanted: Bool) async {
        await Task.yield()
        if isWanted { cancellation.cancel(.handle) }
    }

    private func use(_ source: Pool.Source, of origin: HTTP.Origin, on bench: Bench, keeps: Bool) async throws {
        let connection: Connection
        switch source {
        case .existing(let found): connection = found
        case .opening, .openingBeyond: connection = try bench.open(to: origin)
        }
        #expect(connection.origin == origin)
        await Task.yield()
        let isBeyond = if case .openingBeyond = source { true } else { false }
        if keeps, !isBeyond { return bench.giveBack(connection) }
        connection.close()
        bench.pool.discard(origin, isBeyond: isBeyond)
    }
}
