import Dunlin
import LedgerRows
import Testing

@Suite struct `Options` {
    @Test(.rows("RQ-50")) func `options that say nothing leave every limit to the session`() {
        let options = HTTPSession.Options()
        #expect(options.timeouts == nil)
        #expect(options.continueTimeout == .seconds(1))
    }

    @Test(.rows("RQ-52")) func `options keep one limit when another is set`() {
        var options = HTTPSession.Options(timeouts: Timeouts(firstByte: .seconds(3)))
        options.continueTimeout = .seconds(5)
        #expect(options.timeouts == Timeouts(firstByte: .seconds(3)))
        #expect(options.continueTimeout == .seconds(5))
        options.timeouts?.total = .seconds(9)
        #expect(options.timeouts == Timeouts(firstByte: .seconds(3), total: .seconds(9)))
        options.timeouts = nil
        #expect(options.timeouts == nil)
        #expect(options.continueTimeout == .seconds(5))
    }

    @Test func `a copy of options has limits of its own`() {
        let options = HTTPSession.Options(timeouts: Timeouts(readIdle: .seconds(1)))
        var copy = options
        copy.timeouts = Timeouts(readIdle: .seconds(2))
        #expect(options.timeouts?.readIdle == .seconds(1))
        #expect(copy.timeouts?.readIdle == .seconds(2))
    }

    /// They are handed over with every call, in memory that a request keeps while it waits.
    @Test func `options take at most 64 bytes`() {
        #expect(MemoryLayout<HTTPSession.Options>.size <= 64)
    }
}
