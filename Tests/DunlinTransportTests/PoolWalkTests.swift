import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Pool machine at random` {
    private static let walks: [(PoolModel.Shape, UInt64)] = [
        (.init(cap: 1, total: 1, origins: 1), 21), (.init(cap: 3, total: 99, origins: 4), 22),
        (.init(cap: 2, total: 99, origins: 9), 23), (.init(cap: 5, total: 99, origins: 2), 24),
        (.init(cap: 3, total: 7, origins: 5), 25), (.init(cap: 9, total: 4, origins: 3), 26),
        (.init(cap: 2, total: 1, origins: 6, waiters: 5), 27), (.init(cap: 6, total: 8, origins: 2, waiters: 12), 28),
    ]

    @Test(arguments: walks)
    func `the pool machine keeps its rules over thousands of steps`(shape: PoolModel.Shape, seed: UInt64) async {
        var random = SeededGenerator(seed: seed)
        var model = PoolModel(shape)
        let pool = PoolDriver(
            cap: shape.cap, total: shape.total, waiters: shape.waiters, idleTime: PoolModel.idleTime,
            uses: PoolModel.uses)
        for round in 0..<2500 {
            // Others wait for the thread, with limits.
            if round.isMultiple(of: 50) { await Task.yield() }
            model.now += Int64.random(in: 0..<8, using: &random)
            step(&model, pool, Int.random(in: 0..<shape.origins, using: &random), &random)
            model.check(pool)
        }
        let idle = model.idle.joined().map(\.id)
        let closed = pool.close()
        #expect(closed.map(Set.init) == [Set(idle), Set(model.queue.joined().map(\.number))])
        #expect(pool.lease(model.origins[0]) == .refuse)
    }

    private func step(_ model: inout PoolModel, _ pool: PoolDriver, _ origin: Int, _ random: inout SeededGenerator) {
        switch Int.random(in: 0..<27, using: &random) {
        case 0..<8:
            let priority = HTTP.Priority(Int.random(in: -1...1, using: &random))
            model.lease(at: origin, priority, mayReuse: Int.random(in: 0..<5, using: &random) > 0, from: pool)
        case 8..<13:
            guard let id = model.lent[origin].randomElement(using: &random) else { return }
            model.giveBack(id, at: origin, to: pool)
        case 13..<15:
            guard let id = model.lent[origin].first else { return }
            model.gone(id, at: origin, from: pool)
        case 15..<17:
            guard let number = model.queue[origin].randomElement(using: &random)?.number else { return }
            model.leave(number, at: origin, from: pool)
        case 17:
            guard let id = model.idle[origin].randomElement(using: &random)?.id else { return }
            model.lookAt(id, at: origin, pool)
        case 25..<27:
            guard let id = model.lookedAt[origin].randomElement(using: &random) else { return }
            if Bool.random(using: &random) {
                model.giveBack(id, at: origin, to: pool, wasLookedAt: true)
            } else {
                model.gone(id, at: origin, from: pool, wasLookedAt: true)
            }
        case 22..<25:
            // Now and then one that has been served long ago.
            let any = UInt64.random(in: 0..<5000, using: &random)
            let number = model.queue[origin].randomElement(using: &random)?.number ?? any
            let priority = HTTP.Priority(Int.random(in: -1...1, using: &random))
            model.move(number, at: origin, to: priority, in: pool)
        case 18:
            model.reserve(at: origin, from: pool)
        case 19 where Int.random(in: 0..<5, using: &random) == 0:
            model.retire(in: pool)
        default:
            model.expire(in: pool)
        }
    }
}
