import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinReactor

@Suite struct `Deadline queue` {
    /// The queue against a dictionary: what was asked earliest for a slot counts, until it is taken out.
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `the deadline queue agrees with a plain table over random operations`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = DeadlineQueue()
        var model: [Int: Int64] = [:]
        var now: Int64 = 0
        for _ in 0..<5000 {
            let slot = Int.random(in: 0..<40, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let time = now + Int64.random(in: 0..<50, using: &random)
                queue.schedule(slot, at: HTTP.Instant(nanoseconds: time))
                model[slot] = min(model[slot] ?? .max, time)
            case 6..<8:
                queue.remove(slot)
                model[slot] = nil
            default:
                now += Int64.random(in: 0..<20, using: &random)
                while let popped = queue.popExpired(at: HTTP.Instant(nanoseconds: now)) {
                    #expect(model[popped] == model.values.min())
                    let due = model.removeValue(forKey: popped)
                    #expect(due.map { $0 <= now } == true)
                }
                #expect(model.values.allSatisfy { $0 > now })
            }
            #expect(queue.count == model.count)
            #expect(queue.earliest?.nanoseconds == model.values.min())
        }
    }

    @Test func `the deadline queue only brings a slot forward`() {
        var queue = DeadlineQueue()
        queue.schedule(3, at: HTTP.Instant(nanoseconds: 10))
        queue.schedule(3, at: HTTP.Instant(nanoseconds: 20))
        #expect(queue.earliest == HTTP.Instant(nanoseconds: 10))
        queue.schedule(3, at: HTTP.Instant(nanoseconds: 5))
        #expect(queue.earliest == HTTP.Instant(nanoseconds: 5))
        let popped = [4, 5, 6].map { queue.popExpired(at: HTTP.Instant(nanoseconds: $0)) }
        #expect(popped == [nil, 3, nil])
        #expect(queue.count == 0)
    }

    @Test func `the deadline queue ignores the removal of a slot that it does not know`() {
        var queue = DeadlineQueue()
        queue.remove(7)
        let popped = queue.popExpired(at: .never)
        #expect(popped == nil)
        #expect(queue.earliest == nil)
    }
}

@Suite struct `Slot table` {
    private final class Marker: Timed {
        func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant { .never }
    }

    private static func marker(_ entry: Slots.Entry) -> Marker? {
        if case .timer(let timed) = entry { timed as? Marker } else { nil }
    }

    @Test func `a stale token finds nothing, though the slot is used again`() {
        var slots = Slots()
        let (first, second) = (Marker(), Marker())
        let old = slots.insert(.timer(first))
        #expect(Self.marker(slots[old]) === first)
        let taken = slots.remove(old)
        #expect(Self.marker(taken) === first)
        let new = slots.insert(.timer(second))
        #expect(slots.index(of: new) == 0)
        #expect(new != old)
        #expect(Self.marker(slots[old]) == nil)
        #expect(slots.index(of: old) == nil)
        let nothing = slots.remove(old)
        #expect(Self.marker(nothing) == nil)
        #expect(Self.marker(slots[new]) === second)
        #expect(Self.marker(slots.current(0).0) === second)
        #expect(slots.current(0).1 == new)
        #expect(slots.count == 1)
    }

    @Test(arguments: [Slots.none, Slots.wake, 0, 1 << 32, 5])
    func `a token that was given to nobody finds nothing`(token: UInt64) {
        var slots = Slots()
        #expect(slots.index(of: token) == nil)
        let nothing = slots.remove(token)
        #expect(Self.marker(nothing) == nil)
        #expect(slots.count == 0)
    }

    @Test func `the slot table keeps to as many slots as are in use at once`() {
        var slots = Slots()
        var tokens: Set<UInt64> = []
        for _ in 0..<1000 {
            let (left, right) = (slots.insert(.timer(Marker())), slots.insert(.timer(Marker())))
            tokens.formUnion([left, right])
            _ = slots.remove(left)
            _ = slots.remove(right)
        }
        #expect(tokens.count == 2000)
        #expect(slots.count == 0)
        #expect(tokens.allSatisfy { $0 & 0xFFFF_FFFF < 2 })
    }
}
