import Testing

@testable import DunlinTransfers

@Suite struct `Who asks for a part` {
    private enum Event {
        case enter(Int, mayAsk: Bool)
        case end(hasShown: Bool, wakes: [Int])
    }

    private static func play(isOpen: Bool, _ events: [Event]) {
        var machine = AskingMachine<Int>(isOpen: isOpen)
        for (index, event) in events.enumerated() {
            switch event {
            case .enter(let worker, let mayAsk):
                let may = machine.enter(worker)
                #expect(may == mayAsk, "at \(index)")
            case .end(let hasShown, let wakes):
                let woken = machine.ended(hasShown: hasShown)
                #expect(woken == wakes, "at \(index)")
            }
        }
    }

    @Test func `the first request for a file is sent alone until it has been answered`() {
        Self.play(
            isOpen: false,
            [
                .enter(1, mayAsk: true), .enter(2, mayAsk: false), .enter(3, mayAsk: false),
                .end(hasShown: false, wakes: [2, 3]),
                .enter(3, mayAsk: true), .enter(2, mayAsk: false), .end(hasShown: true, wakes: [2]),
                .enter(2, mayAsk: true), .enter(1, mayAsk: true), .end(hasShown: false, wakes: []),
                .enter(3, mayAsk: true),
            ])
    }

    @Test func `no request for a part waits where the server is known to send parts`() {
        Self.play(
            isOpen: true,
            [
                .enter(1, mayAsk: true), .enter(2, mayAsk: true), .end(hasShown: false, wakes: []),
                .enter(3, mayAsk: true),
            ])
    }
}
