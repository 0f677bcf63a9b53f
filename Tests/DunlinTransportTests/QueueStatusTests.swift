import DunlinReactor
import DunlinTypes
import Synchronization
import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `The queue status of a request` {
    private final class Position: QueuePosition {
        let told = Mutex<[HTTP.Priority]>([])
        let aside = Atomic<Int>(0)

        func move(to priority: HTTP.Priority) { told.withLock { $0.append(priority) } }
        func stepAside() { aside.add(1, ordering: .relaxed) }

        var moves: [HTTP.Priority] { told.withLock { $0 } }
    }

    private static func queueStatus(_ priority: HTTP.Priority) throws -> QueueStatus {
        TransferControl(on: try ReactorGroup.shared.reactors()[0], priority: priority).queueStatus
    }

    @Test func `a change of priority moves the request in the queue it waits in, and in no other`() throws {
        let queueStatus = try Self.queueStatus(.low)
        let (first, second) = (Position(), Position())
        queueStatus.setPriority(.high)
        queueStatus.enter(first)
        queueStatus.setPriority(.normal)
        queueStatus.leave()
        queueStatus.setPriority(7)
        queueStatus.enter(second)
        queueStatus.stepAside()
        queueStatus.leave()
        queueStatus.stepAside()
        #expect(first.moves == [.high, .normal])
        #expect(second.moves == [7])
        #expect(queueStatus.priority == 7)
        #expect([first, second].map { $0.aside.load(ordering: .relaxed) } == [0, 1])
    }

    @Test func `the queue and the request keep the same priority of many changes at once`() async throws {
        for _ in 0..<50 {
            let (queueStatus, position) = (try Self.queueStatus(.normal), Position())
            queueStatus.enter(position)
            await withTaskGroup(of: Void.self) { group in
                for number in 1...8 { group.addTask { queueStatus.setPriority(HTTP.Priority(number)) } }
            }
            #expect(position.moves.count == 9)
            #expect(position.moves.last == queueStatus.priority)
        }
    }

    @Test func `the priority of a request is that of each of its exchanges, from before and after`() throws {
        let whole = TransferControl(on: try ReactorGroup.shared.reactors()[0], priority: .low)
        let parts = (0..<3).map { _ in TransferControl(partOf: whole) }
        let positions = parts.map { part in
            let position = Position()
            part.queueStatus.enter(position)
            return position
        }
        whole.queueStatus.setPriority(.high)
        #expect(parts.map(\.queueStatus.priority) == [.high, .high, .high])
        #expect(positions.map(\.moves) == [[.low, .high], [.low, .high], [.low, .high]])
        #expect(TransferControl(partOf: whole).queueStatus.priority == .high)
        parts[0].queueStatus.setPriority(7)
        #expect(whole.queueStatus.priority == .high && parts[1].queueStatus.priority == .high)
    }

    @Test func `the hop that an exchange has left untold is its own, and told once, whatever others have left`() throws
    {
        let whole = TransferControl(on: try ReactorGroup.shared.reactors()[0])
        let parts = (0..<2).map { _ in TransferControl(partOf: whole) }
        var hop = HTTP.Hop()
        hop.bytesSent = 7
        parts[0].untoldHop = hop
        #expect(whole.untoldHop == hop && parts[0].untoldHop == hop)
        #expect(parts[1].untoldHop == nil && parts[1].takeUntoldHop() == nil)
        whole.untoldHop = nil
        let told = [parts[0].takeUntoldHop(), parts[0].takeUntoldHop()]
        #expect(told == [hop, nil])
    }

    @Test func `all exchanges of a request keep the same priority of many changes at once`() async throws {
        let reactor = try ReactorGroup.shared.reactors()[0]
        for _ in 0..<50 {
            let whole = TransferControl(on: reactor)
            let parts = await withTaskGroup(of: TransferControl?.self) { group in
                for number in 1...8 {
                    group.addTask {
                        whole.queueStatus.setPriority(HTTP.Priority(number))
                        return nil
                    }
                    group.addTask { TransferControl(partOf: whole) }
                }
                return await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
            }
            #expect(parts.count == 8)
            #expect(parts.allSatisfy { $0.queueStatus.priority == whole.queueStatus.priority })
        }
    }

    @Test func `a request steps aside in its queue when it is suspended, once`() throws {
        let watch = TransferControl(on: try ReactorGroup.shared.reactors()[0])
        let position = Position()
        watch.queueStatus.enter(position)
        let held = [watch.suspend(), watch.suspend(), watch.resume(), watch.suspend()]
        #expect(held == [true, false, true, true])
        #expect(position.aside.load(ordering: .relaxed) == 2)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A bulletin` {
    @Test func `a bulletin gives the newest value to each reader, whatever came between`() async throws {
        let bulletin = ObservableValue(0, on: try ReactorGroup.shared.reactors()[0])
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
        let bulletin = ObservableValue(0, on: try ReactorGroup.shared.reactors()[0])
        let first = try #require(await bulletin.value(after: nil))
        let reader = Task { await bulletin.value(after: first.version) == nil }
        reader.cancel()
        #expect(await reader.value)
    }
}
