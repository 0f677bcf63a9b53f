import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Address race machine` {
    enum Event: Sendable {
        case begin(Int64)
        case failed(Int, Int64)
        case slow(Int, Int64)
        case connected(Int)
    }

    struct Script: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let count: Int
        /// Each event, and what must be done about it: `2>35` starts the second address and is patient until 35.
        let steps: [(Event, String)]

        init(_ description: String, _ count: Int, _ steps: [(Event, String)]) {
            testDescription = description
            self.count = count
            self.steps = steps
        }
    }

    static let scripts = [
        Script("no address", 0, [(.begin(0), "fail")]),
        Script("one that answers", 1, [(.begin(0), "1>100"), (.connected(0), "win 1")]),
        Script("one that fails", 1, [(.begin(0), "1>100"), (.failed(0, 1), "fail")]),
        Script("one that is never heard of", 1, [(.begin(0), "1>100"), (.slow(0, 100), "give up")]),
        Script(
            "each fails: the next follows at once", 3,
            [(.begin(0), "1>10"), (.failed(0, 2), "2>12"), (.failed(1, 3), "3>100"), (.failed(2, 4), "fail")]),
        Script(
            "each is slow: the next starts beside it", 3,
            [
                (.begin(0), "1>10"), (.slow(0, 10), "2>20"), (.slow(1, 21), "3>100"), (.connected(1), "win 2"),
            ]),
        Script(
            "a slow one answers before its rival", 2,
            [(.begin(0), "1>10"), (.slow(0, 10), "2>100"), (.connected(0), "win 1")]),
        Script(
            "an old attempt that fails hastens nothing", 3,
            [
                (.begin(0), "1>10"), (.slow(0, 10), "2>20"), (.failed(0, 11), "wait"), (.slow(1, 20), "3>100"),
                (.failed(1, 21), "wait"), (.failed(2, 22), "fail"),
            ]),
        Script(
            "the newest fails while an old one goes on", 3,
            [
                (.begin(0), "1>10"), (.slow(0, 10), "2>20"), (.failed(1, 12), "3>100"), (.failed(2, 13), "wait"),
                (.connected(0), "win 1"),
            ]),
        Script(
            "the deadline is nearer than the delay", 2,
            [(.begin(95), "1>100"), (.slow(0, 100), "give up")]),
        Script("a failure at the deadline starts nothing", 2, [(.begin(0), "1>10"), (.failed(0, 100), "give up")]),
        Script("no time at all", 2, [(.begin(100), "give up")]),
        Script(
            "all are slow until the end", 2,
            [(.begin(0), "1>10"), (.slow(0, 10), "2>100"), (.slow(0, 100), "give up")]),
        Script("a clock that jumps", 3, [(.begin(0), "1>10"), (.slow(0, 99), "2>100"), (.slow(1, 100), "give up")]),
    ]

    @Test(arguments: scripts)
    func `the race machine tries addresses one by one and beside each other`(script: Script) {
        var machine = AddressRaceMachine(count: script.count, delay: 10, deadline: HTTP.Instant(nanoseconds: 100))
        for (number, (event, expected)) in script.steps.enumerated() {
            let action =
                switch event {
                case .begin(let now): machine.begin(at: HTTP.Instant(nanoseconds: now))
                case .failed(let address, let now): machine.failed(address, at: HTTP.Instant(nanoseconds: now))
                case .slow(let address, let now): machine.slow(address, at: HTTP.Instant(nanoseconds: now))
                case .connected(let address): machine.connected(address)
                }
            #expect(Self.text(action) == expected, "step \(number)")
        }
    }

    private static func text(_ action: AddressRaceMachine.Action) -> String {
        switch action {
        case .start(let address, let until): "\(address + 1)>\(until.nanoseconds)"
        case .wait: "wait"
        case .win(let address): "win \(address + 1)"
        case .fail: "fail"
        case .giveUp: "give up"
        }
    }
}

@Suite struct `Address order` {
    /// Four for an IPv4 address, six for an IPv6 one, and which.
    private static func address(_ text: Substring) -> HTTP.SocketAddress {
        let number = UInt32(text.dropFirst()) ?? 0
        return text.first == "6" ? .v6(0, UInt64(number), port: 1) : .v4(number, port: 1)
    }

    @Test(arguments: [
        ("", 0, ""), ("4a", 3, "4a"),
        ("61 62 41 42", 0, "61 41 62 42"), ("41 42 43 61", 0, "41 61 42 43"), ("61 41 42 43", 0, "61 41 42 43"),
        ("41 42 43", 0, "41 42 43"), ("41 42 43", 1, "42 43 41"), ("41 42 43", 5, "43 41 42"),
        ("61 62 41 42 43", 1, "62 42 61 43 41"), ("61 62 41 42 43", 2, "61 43 62 41 42"),
    ])
    func `the address order lets families take turns, and each family's addresses`(
        given: String, turn: Int, expected: String
    ) {
        let addresses = given.split(separator: " ").map(Self.address)
        let order = AddressOrder.interleaved(addresses, turn: turn)
        #expect(order == expected.split(separator: " ").map(Self.address))
    }

    @Test func `64 of ten thousand addresses are kept, and some of either family`() {
        let sixes = (0..<5_000).map { HTTP.SocketAddress.v6(0, $0, port: 1) }
        let fours = (0..<5_000).map { HTTP.SocketAddress.v4($0, port: 1) }
        let kept = AddressOrder.kept(sixes + fours)
        let turns: [HTTP.SocketAddress] = (0..<32).flatMap { [sixes[$0], fours[$0]] }
        #expect(kept == turns)
        #expect(AddressOrder.kept(fours) == Array(fours.prefix(64)))
        #expect(AddressOrder.kept(fours + sixes.prefix(1)).contains(sixes[0]))
        let few = sixes.prefix(32) + fours.prefix(32)
        #expect(AddressOrder.kept(Array(few)) == Array(few))
    }

    @Test func `turns are counted for each name`() {
        var turns = Turns()
        #expect(["a", "b", "a", "b", "a"].map { turns.next(for: $0) } == [0, 0, 1, 1, 2])
    }

    @Test func `counting begins anew rather than grow without bound`() {
        var turns = Turns()
        for number in 0..<1024 { #expect(turns.next(for: "\(number)") == 0) }
        #expect(turns.next(for: "7") == 1)
        #expect(turns.next(for: "one more") == 0)
        #expect(turns.next(for: "7") == 0)
    }
}
