import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `WebSocket limits` {
    private static func limits(frame: Int = 1 << 20, message: Int? = 1 << 20) -> WebSocketLimits {
        var limits = WebSocketLimits()
        limits.frameBytes = frame
        limits.messageBytes = message
        return limits
    }

    @Test(.rules("6455-10.4-1"), arguments: [(10, true), (11, false)])
    func `a frame that is too long is refused by its head`(length: Int, isAllowed: Bool) {
        let bytes = frame(0x2, [UInt8](repeating: 1, count: length))
        let limits = Self.limits(frame: 10)
        let head = isAllowed ? bytes : Array(bytes.prefix(2))
        let expected: ReceiveOutcome =
            isAllowed ? ReceiveOutcome([.binary(Array(bytes[2...]))]) : ReceiveOutcome([], .frameTooLong(limit: 10))
        #expect(ReceiveOutcome(of: [head], limits: limits) == expected)
        for pieces in cuts(of: bytes) { #expect(ReceiveOutcome(of: pieces, limits: limits) == expected) }
    }

    @Test(.rules("6455-10.4-1"))
    func `a message that is too long is refused by the head of the frame that exceeds the limit`() {
        let begun = frame(0x1, "12345", isFinal: false) + frame(0x0, "67890", isFinal: false)
        let limits = Self.limits(message: 10)
        #expect(ReceiveOutcome(of: [begun + frame(0x0)], limits: limits) == ReceiveOutcome([.text("1234567890")]))
        for pieces in cuts(of: begun + [0x80, 0x01]) {
            #expect(ReceiveOutcome(of: pieces, limits: limits) == ReceiveOutcome([], .messageTooLong(limit: 10)))
        }
        #expect(WebSocketError.messageTooLong(limit: 10).closeCode == .messageTooBig)
    }

    @Test func `each message has the limit for itself, and control frames have none of it`() {
        let bytes = frame(0x2, [1, 2, 3]) + frame(0x9, "a long ping") + frame(0x2, [4, 5, 6])
        let outcome = ReceiveOutcome([.binary([1, 2, 3]), .ping("a long ping"), .binary([4, 5, 6])])
        #expect(ReceiveOutcome(of: [bytes], limits: Self.limits(frame: 3, message: 3)) == outcome)
    }

    @Test func `lengths whose sum overflows are too long, or without a limit allowed`() {
        let huge: [UInt8] = [0x02, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7)
        var limits = Self.limits(frame: .max, message: .max - 1)
        #expect(ReceiveOutcome(of: [huge], limits: limits).error == .messageTooLong(limit: .max - 1))
        limits.messageBytes = nil
        #expect(ReceiveOutcome(of: [huge], limits: limits) == ReceiveOutcome([]))
    }

    @Test func `a compressed message may be a little longer than its content, and no more`() {
        // 1000 bytes of content, and at most 1000 + 1000 / 64 + 1024 that are compressed.
        let limits = Self.limits(message: 1000)
        for (length, isAllowed) in [(1000, true), (2039, true), (2040, false)] {
            var machine = WebSocketReceiveMachine(limits: limits, allowsCompression: true)
            machine.feed(Bytes(frame(0x2, [UInt8](repeating: 0, count: length), reserved: 4)))
            let refused = WebSocketReceiveMachine.Action.fail(.messageTooLong(limit: 1000))
            #expect((machine.next() != refused) == isAllowed, "\(length)")
        }
    }

    @Test func `the backlog stops reading at its limit, and goes on when enough has been taken`() {
        var limits = WebSocketLimits()
        limits.backlogBytes = 300
        var backlog = WebSocketBacklog(limits: limits)
        #expect(backlog.mayRead)
        // Each costs 100 bytes and what keeping it costs, 64.
        backlog.add(.binary(Bytes([UInt8](repeating: 1, count: 100))), isLast: true)
        #expect(backlog.mayRead)
        backlog.add(.text(String(repeating: "x", count: 100)), isLast: false)
        #expect(backlog.bytes == 328)
        #expect(!backlog.mayRead)
        #expect(backlog.take()?.isLast == true)
        #expect(backlog.mayRead)
        #expect(backlog.take()?.message == .text(String(repeating: "x", count: 100)))
        #expect(backlog.bytes == 0)
        #expect(backlog.take() == nil)
    }

    @Test func `empty messages fill the backlog too`() {
        var limits = WebSocketLimits()
        limits.backlogBytes = 6400
        var backlog = WebSocketBacklog(limits: limits)
        for _ in 0..<99 { backlog.add(.binary(.empty), isLast: true) }
        #expect(backlog.mayRead)
        backlog.add(.binary(.empty), isLast: true)
        #expect(!backlog.mayRead)
    }

    @Test func `an empty backlog may be read even if its limit is 0`() {
        var limits = WebSocketLimits()
        limits.backlogBytes = 0
        var backlog = WebSocketBacklog(limits: limits)
        #expect(backlog.mayRead)
        backlog.add(.binary([1]), isLast: true)
        #expect(!backlog.mayRead)
    }

    @Test func `messages are taken in the order in which they came`() {
        var backlog = WebSocketBacklog()
        var taken: [Int] = []
        for round in 0..<100 {
            for number in 0..<3 { backlog.add(.text("\(round * 3 + number)"), isLast: true) }
            for _ in 0..<2 {
                if case .text(let text)? = backlog.take()?.message, let number = Int(text) { taken.append(number) }
            }
        }
        while case .text(let text)? = backlog.take()?.message { taken.append(Int(text) ?? -1) }
        #expect(taken == Array(0..<300))
    }
}
