import Dunlin
import Synchronization
import Testing

@testable import DunlinActivity

@Suite struct BatchProgressTests {
    @Test(arguments: [(0, 0, 1.0, true), (4, 0, 0, false), (4, 1, 0.25, false), (4, 4, 1, true)])
    func `the progress of a batch is final when all its requests are over`(
        total: Int, ended: Int, fraction: Double, isFinal: Bool
    ) {
        var progress = HTTPSession.BatchProgress(total: total)
        for _ in 0..<ended { progress.ended(well: true) }
        #expect(progress.fraction == fraction)
        #expect(progress.isFinal == isFinal)
        #expect(progress.failed == 0)
    }

    @Test func `the progress of a batch sums up its failures and the bytes that moved`() {
        var progress = HTTPSession.BatchProgress(total: 3)
        for (isWell, sent, received) in [(true, 5, 0), (false, 0, 7), (false, 1, 1)] {
            progress.moved(sent: sent, received: received)
            progress.ended(well: isWell)
        }
        #expect([progress.finished, progress.failed, progress.sentBytes, progress.receivedBytes] == [3, 2, 6, 8])
    }
}

@Suite(.timeLimit(.minutes(10))) struct BatchCounterTests {
    @Test func `a batch whose requests end at the same time settles when the last is counted`() async throws {
        for _ in 0..<20 {
            let loop = try HTTPSession().core.loop
            let counter = BatchCounter(50, on: loop)
            let seen = Mutex<HTTPSession.BatchProgress?>(nil)
            counter.settlement.whenSettled { seen.withLock { $0 = counter.state } }
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<50 {
                    group.addTask {
                        counter.moved(sent: 1, received: index)
                        counter.ended(isWell: index % 5 > 0)
                    }
                }
            }
            let last = try #require(seen.withLock { $0 })
            #expect([last.finished, last.failed, last.sentBytes] == [50, 10, 50])
            #expect(last.receivedBytes == (0..<50).reduce(0, +))
        }
    }
}
