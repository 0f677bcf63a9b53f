import Dispatch
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Looks at files` {
    /// Looks that find their own number, each of which waits until it may go on.
    private final class Disk: Sendable {
        private let permits = DispatchSemaphore(value: 0)
        private let count = Mutex(0)

        var looks: Int { count.withLock { $0 } }

        func look() -> Int {
            let number = count.withLock { count in
                count += 1
                return count
            }
            permits.wait()
            return number
        }

        func permit() { permits.signal() }
    }

    private final class Answers: Sendable {
        private let found = Mutex<[Int]>([])

        var all: [Int] { found.withLock { $0 } }

        func note(_ number: Int) { found.withLock { $0.append(number) } }
    }

    private static func ask(_ looks: FileLooks<Int>, _ disk: Disk, _ answers: Answers) {
        looks.ask({ disk.look() }, meanwhile: 0) { answers.note($0) }
    }

    @Test func `who asks during a look gets what the next one finds`() async throws {
        let (looks, disk, answers) = (FileLooks<Int>(limit: .seconds(600)), Disk(), Answers())
        Self.ask(looks, disk, answers)
        try await eventually("a look begins") { disk.looks == 1 }
        for _ in 1...3 { Self.ask(looks, disk, answers) }
        disk.permit()
        try await eventually("another look begins") { disk.looks == 2 }
        #expect(answers.all == [1])
        disk.permit()
        try await eventually("all are answered") { answers.all == [1, 2, 2, 2] }
        Self.ask(looks, disk, answers)
        disk.permit()
        try await eventually("it is answered") { answers.all == [1, 2, 2, 2, 3] }
    }

    @Test func `while a look hangs, who asks gets what was found before`() async throws {
        let (looks, disk, answers) = (FileLooks<Int>(limit: .zero), Disk(), Answers())
        Self.ask(looks, disk, answers)
        try await eventually("a look begins") { disk.looks == 1 }
        for _ in 1...3 { Self.ask(looks, disk, answers) }
        #expect(answers.all == [0, 0, 0])
        disk.permit()
        try await eventually("the look ends") { answers.all == [0, 0, 0, 1] }
        disk.permit()
        try await eventually("it looks again") {
            Self.ask(looks, disk, answers)
            return answers.all.last == 2
        }
        disk.permit()
    }
}
