import Dunlin
import DunlinTesting
import Folders
import LedgerRows
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

/// Each way to say who asks, with and without a field that looks secret and is the same for all.
@Suite(.timeLimit(.minutes(10))) struct `A body belongs to who asked for it` {
    private static let all = WayToAsk.ofRequests + WayToAsk.ofSessions
    private static let fresh: Fields = ["Cache-Control": "max-age=86400"]

    /// Asks twice for everybody, and says how often something was sent.
    private func askTwice(_ askers: Askers, _ way: WayToAsk) async throws {
        for _ in 1...2 {
            for person in Person.allCases { try await askers.ask(person) }
        }
        #expect(askers.mixedUp.isEmpty)
        #expect(askers.transport.requests.count == (way.isKept ? 3 : 5))
    }

    @Test(.rules("9111-7.3-1"), arguments: all, ConstantField.allCases)
    func `a body in a memory cache is served only to who asked for it`(way: WayToAsk, constant: ConstantField)
        async throws
    {
        let cache = HTTPSession.Cache(MapStore(isAtHand: true))
        let askers = try Askers(way, constant, Self.fresh) { $0.cache = cache }
        try await askTwice(askers, way)
    }

    @Test(arguments: all, ConstantField.allCases)
    func `a body in a cache folder is served only to who asked for it`(way: WayToAsk, constant: ConstantField)
        async throws
    {
        let folder = Folder.unmade()
        let cache = HTTPSession.Cache(
            .init(memory: 0, disk: 8 << 20, largestShare: 1), folder: folder.path)
        let askers = try Askers(way, constant, Self.fresh) { $0.cache = cache }
        try await askTwice(askers, way)
        await cache.close()
    }

    @Test(arguments: all, ConstantField.allCases)
    func `a body from a background revalidation is served only to who asked for it`(
        way: WayToAsk, constant: ConstantField
    ) async throws {
        let cache = HTTPSession.Cache(MapStore(isAtHand: true))
        let stale: Fields = ["Cache-Control": "max-age=0, stale-while-revalidate=1000"]
        let askers = try Askers(way, constant, stale) { $0.cache = cache }
        for _ in 1...3 {
            for person in Person.allCases { try await askers.ask(person) }
        }
        await askers.shutdown()
        #expect(askers.mixedUp.isEmpty)
    }

    @Test(arguments: WayToAsk.ofRequests, ConstantField.allCases)
    func `a body that identical requests share is given only to who asked for it`(
        way: WayToAsk, constant: ConstantField
    ) async throws {
        let opened = Settlement<Void>()
        let askers = try Askers(way, constant, Fields(), delay: { await opened.value }) { $0.coalescing.isOn = true }
        let isShared = way.isKept && !way.name.hasPrefix("a proxy")
        let sent = isShared ? 3 : 5
        try await withThrowingTaskGroup(of: Void.self) { group in
            for person in Person.allCases + Person.allCases { group.addTask { try await askers.ask(person) } }
            try await eventually("all are sent, or wait", following: askers.transport) {
                let waiting = await askers.session(of: .nobody).gauges().coalesced
                return askers.transport.requests.count == sent && waiting == 6 - sent
            }
            opened.settle(())
            try await group.waitForAll()
        }
        #expect(askers.mixedUp.isEmpty)
    }

    @Test(arguments: WayToAsk.ofSessions, ConstantField.allCases)
    func `a body is given only to who asked for it when all users ask at once`(way: WayToAsk, constant: ConstantField)
        async throws
    {
        let askers = try Askers(way, constant, Fields()) { $0.coalescing.isOn = true }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for person in Person.allCases + Person.allCases { group.addTask { try await askers.ask(person) } }
            try await group.waitForAll()
        }
        #expect(askers.mixedUp.isEmpty)
    }
}
