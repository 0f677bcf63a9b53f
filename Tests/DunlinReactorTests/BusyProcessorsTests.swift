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
}
