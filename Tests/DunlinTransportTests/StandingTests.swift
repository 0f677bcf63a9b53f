import DunlinReactor
import DunlinTypes
import Synchronization
import Testing

@testable import DunlinTransport

@Suite struct `The standing of a request` {
    private final class Place: LinePlace {
        let told = Mutex<[RequestPriority]>([])
        let aside = Atomic<Int>(0)

        func move(to priority: RequestPriority) { told.withLock { $0.append(priority) } }
        func stepAside() { aside.add(1, ordering: .relaxed) }

        var moves: [RequestPriority] { told.withLock { $0 } }
    }

    private static func standing(_ priority: RequestPriority) throws -> Standing {
        TransferWatch(on: try ReactorGroup.shared.reactors()[0], priority: priority).standing
    }

    @Test func `a change of priority moves the request in the line it waits in, and in no other`() throws {
        let standing = try Self.standing(.low)
        let (first, second) = (Place(), Place())
        standing.setPriority(.high)
        standing.enter(first)
        standing.setPriority(.normal)
        standing.leave()
        standing.setPriority(7)
        standing.enter(second)
        standing.stepAside()
        standing.leave()
        standing.stepAside()
        #expect(first.moves == [.high, .normal])
        #expect(second.moves == [7])
        #expect(standing.priority == 7)
        #expect([first, second].map { $0.aside.load(ordering: .relaxed) } == [0, 1])
    }

    @Test func `the line and the request keep the same priority of many changes at once`() async throws {
        for _ in 0..<50 {
            let (standing, place) = (try Self.standing(.normal), Place())
            standing.enter(place)
            await withTaskGroup(of: Void.self) { group in
                for number in 1...8 { group.addTask { standing.setPriority(RequestPriority(number)) } }
            }
            #expect(place.moves.count == 9)
            #expect(place.moves.last == standing.priority)
        }
    }

    @Test func `the priority of a request is that of each of its exchanges, from before and after`() throws {
        let whole = TransferWatch(on: try ReactorGroup.shared.reactors()[0], priority: .low)
        let parts = (0..<3).map { _ in TransferWatch(partOf: whole) }
        let places = parts.map { part in
            let place = Place()
            part.standing.enter(place)
            return place
        }
        whole.standing.setPriority(.high)
        #expect(parts.map(\.standing.priority) == [.high, .high, .high])
        #expect(places.map(\.moves) == [[.low, .high], [.low, .high], [.low, .high]])
        #expect(TransferWatch(partOf: whole).standing.priority == .high)
        parts[0].standing.setPriority(7)
        #expect(whole.standing.priority == .high && parts[1].standing.priority == .high)
    }

    @Test func `all exchanges of a request keep the same priority of many changes at once`() async throws {
        let reactor = try ReactorGroup.shared.reactors()[0]
        for _ in 0..<50 {
            let whole = TransferWatch(on: reactor)
            let parts = await withTaskGroup(of: TransferWatch?.self) { group in
                for number in 1...8 {
                    group.addTask {
                        whole.standing.setPriority(RequestPriority(number))
                        return nil
                    }
                    group.addTask { TransferWatch(partOf: whole) }
                }
                return await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
            }
            #expect(parts.count == 8)
            #expect(parts.allSatisfy { $0.standing.priority == whole.standing.priority })
        }
    }

    @Test func `the time of a wait counts for the exchange that follows it at once`() throws {
        let standing = try Self.standing(.normal)
        standing.queued(30, until: MonotonicTime(nanoseconds: 100))
        #expect(standing.queuedTime(until: MonotonicTime(nanoseconds: 100)) == 30)
        #expect(standing.queuedTime(until: MonotonicTime(nanoseconds: 101)) == 0)
    }

    @Test func `a request steps aside in its line when it is suspended, once`() throws {
        let watch = TransferWatch(on: try ReactorGroup.shared.reactors()[0])
        let place = Place()
        watch.standing.enter(place)
        let held = [watch.suspend(), watch.suspend(), watch.resume(), watch.suspend()]
        #expect(held == [true, false, true, true])
        #expect(place.aside.load(ordering: .relaxed) == 2)
    }
}

@Suite struct `A bulletin` {
    @Test func `a bulletin gives the newest value to each reader, whatever came between`() async throws {
        let bulletin = Bulletin(0, on: try ReactorGroup.shared.reactors()[0])
        let first = try #require(await bulletin.value(after: nil))
        #expect(first.value == 0)
        #expect(bulletin.change { $0 = 0 } == nil)
        async let later = bulletin.value(after: first.version)
        bulletin.change { $0 += 1 }
        bulletin.change { $0 += 1 }
        let news = try #require(await later)
        #expect(news.value > 0)
        let last = try #require(await bulletin.value(after: first.version))
        #expect(last.value == 2)
        #expect(bulletin.value == 2)
    }

    @Test func `a bulletin ends for a reader whose task is cancelled`() async throws {
        let bulletin = Bulletin(0, on: try ReactorGroup.shared.reactors()[0])
        let first = try #require(await bulletin.value(after: nil))
        let reader = Task { await bulletin.value(after: first.version) == nil }
        reader.cancel()
        #expect(await reader.value)
    }
}
