import Testing

@testable import DunlinReactor

@Suite struct `Busy processors` {
    @Test func `are those on which work has begun and not ended`() {
        let busy = BusyProcessors()
        #expect((0..<64).allSatisfy { !busy.include($0) })
        let third = busy.begin(on: 3)
        let last = busy.begin(on: 63)
        #expect((0..<64).filter { busy.include($0) } == [3, 63])
        busy.end(third)
        #expect((0..<64).filter { busy.include($0) } == [63])
        busy.end(last)
        #expect((0..<64).allSatisfy { !busy.include($0) })
    }

    @Test(arguments: [Int32(64), 191, .max, -1]) func `have any number`(_ processor: Int32) {
        let busy = BusyProcessors()
        let mark = busy.begin(on: processor)
        #expect(busy.include(processor))
        busy.end(mark)
        #expect(!busy.include(processor))
    }

    @Test func `are not asked for when there are none`() {
        func unasked() -> Int32 {
            Issue.record("asked")
            return 0
        }
        let isIncluded = BusyProcessors().include(unasked())
        #expect(!isIncluded)
    }

    @Test func `number the caller's own`() {
        #expect(BusyProcessors.current >= 0)
    }

    /// More lines than a loop takes events at once, on a loop that lets others go first whenever it wakes.
    @Test(arguments: [1, 16, 300]) func `cost a loop that yields to them nothing that it was told`(count: Int)
        async throws
    {
        let busy = BusyProcessors()
        for processor in 0..<64 { _ = busy.begin(on: Int32(processor)) }
        let reactor = try Reactor(name: "test", busy: busy)
        defer { reactor.retire() }
        let lines = try (0..<count).map { _ in try Line(on: reactor) }
        for round in 0..<50 {
            try await withThrowingTaskGroup { group in
                for line in lines {
                    group.addTask(executorPreference: reactor) { try await line.read() }
                }
                await lines[0].later {}
                for line in lines { line.say("\(round)") }
                for try await text in group { #expect(text == "\(round)") }
            }
        }
    }
}
