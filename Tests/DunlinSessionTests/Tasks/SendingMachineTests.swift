import Testing

@testable import DunlinSession

@Suite struct SendingMachineTests {
    @Test func `the first sending needs no reason and is not counted`() {
        var machine = SendingMachine()
        machine.begin(nil)
        #expect(machine.count == 0)
    }

    @Test func `each sending after the first counts for its reason, or as going on without one`() {
        var machine = SendingMachine()
        for why in [nil, .redirect, nil, .redirect, .password] as [SendingReason?] { machine.begin(why) }
        #expect(machine.count == 4)
        #expect(machine.reasons == "2 redirects, 1 answer to a challenge, 1 continuation")
    }

    @Test func `a refused sending is not counted`() {
        var machine = SendingMachine()
        for why in [nil, .redirect, .password] as [SendingReason?] { machine.begin(why) }
        machine.refuse()
        #expect(machine.count == 1)
        #expect(machine.reasons == "1 redirect")
    }

    @Test func `a wait for a network is no sending`() {
        var machine = SendingMachine()
        for _ in 0..<1000 { machine.begin(.network) }
        #expect(machine.count == 0)
    }

    /// Redirects and attempts that are allowed, and how often a call may be sent again.
    @Test(arguments: [
        (20, 1, 100), (0, 0, 100), (50, 1, 130), (20, 10, 118), (120, 51, 300), (Int.max, 3, Int.max),
        (20, Int.max, Int.max),
    ])
    func `the user's own allowance is added to the limit`(redirects: Int, attempts: Int, limit: Int) {
        #expect(SendingMachine.limit(100, redirects: redirects, attempts: attempts) == limit)
        if limit == .max { return }
        #expect(SendingMachine.limit(7, redirects: redirects, attempts: attempts) == limit - 93)
    }

    @Test func `a sending without a beginning counts all the same`() {
        var machine = SendingMachine()
        machine.begin(nil)
        for _ in 0..<2 { machine.add(.proxy) }
        #expect(machine.reasons == "2 challenges of proxies")
    }

    @Test func `after progress a call's sendings are counted anew`() {
        var machine = SendingMachine()
        for _ in 0..<10 { machine.begin(.continuation) }
        machine.progressed()
        machine.begin(.continuation)
        #expect(machine.count == 0)
    }

    @Test(arguments: SendingReason.allCases) func `every reason has words for one and for several`(why: SendingReason) {
        #expect(why.described(1).hasPrefix("1 ") && why.described(2).hasPrefix("2 "))
        #expect(why.described(1).dropFirst() != why.described(2).dropFirst())
    }
}
