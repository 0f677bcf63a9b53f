import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

/// What the client writes to a server, and how the connection ends, by all machines together.
@Suite struct `A WebSocket conversation` {
    /// A client's frame with at most 125 bytes and a mask of zeros.
    private static func sent(_ opcode: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
        [0x80 | opcode, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    private static func sentClose(_ code: Int) -> [UInt8] { sent(0x8, [UInt8(code >> 8), UInt8(code & 0xFF)]) }

    private static let hello = Array("Hello".utf8)

    @Test func `a message is sent back as it came, however it is cut`() {
        let wire = frame(0x1, "Hel", isFinal: false) + frame(0x0, "lo") + frame(0x2, [0, 255]) + frame(0x1)
        for pieces in cuts(of: wire) {
            var conversation = Conversation()
            conversation.receive(pieces)
            #expect(conversation.written == Self.sent(0x1, Self.hello) + Self.sent(0x2, [0, 255]) + Self.sent(0x1))
            #expect(conversation.outcome == nil)
        }
    }

    @Test(.rules("6455-5.4-2", "6455-5.5.2-2")) func `a ping within a message is answered before the message`() {
        let wire = [frame(0x1, "Hel", isFinal: false), frame(0x9, "p"), frame(0x0, "lo")]
        var conversation = Conversation()
        conversation.receive(wire)
        #expect(conversation.written == Self.sent(0xA, [0x70]) + Self.sent(0x1, Self.hello))
    }

    @Test func `pings that come at once have one answer, and pings one by one have one each`() {
        let pings = (0..<10).map { frame(0x9, [$0]) }
        var conversation = Conversation()
        conversation.receive([Array(pings.joined())])
        #expect(conversation.written == Self.sent(0xA, [9]))
        conversation = Conversation()
        conversation.receive(pings)
        #expect(conversation.written == (0..<10).flatMap { Self.sent(0xA, [$0]) })
    }

    @Test(.rules("6455-5.5.1-4", "6455-5.5.1-5"), arguments: [1000, 1001, 3999, 4999])
    func `the server's close is answered with its code, and nothing after it counts`(code: Int) throws {
        let wire = frame(0x1, "Hello") + closeFrame(code, Array("why".utf8)) + frame(0x1, "late") + frame(0x9)
        for pieces in cuts(of: wire) {
            var conversation = Conversation()
            conversation.receive(pieces)
            #expect(conversation.written == Self.sent(0x1, Self.hello) + Self.sentClose(code))
            #expect(conversation.outcome == nil)
            conversation.endStream()
            let theirs = try WebSocketClosing(WebSocketCloseCode(rawValue: UInt16(code)), reason: "why")
            #expect(conversation.outcome == .closed(theirs, byPeer: true))
        }
    }

    @Test(.rules("6455-5.5.2-1"))
    func `after our close messages and pings are discarded, and the server's close ends the handshake`() throws {
        for pieces in cuts(of: frame(0x1, "late") + frame(0x9) + closeFrame(1000)) {
            var conversation = Conversation()
            try conversation.close(.normal)
            conversation.receive(pieces)
            #expect(conversation.written == Self.sentClose(1000))
            #expect(conversation.messages.isEmpty)
            conversation.endStream()
            #expect(try conversation.outcome == .closed(WebSocketClosing(.normal), byPeer: false))
        }
    }

    static let faults: [([UInt8], WebSocketError, Int)] = [
        (frame(0x3), .unknownOpcode(3), 1002), (frame(0xB), .unknownOpcode(11), 1002),
        (frame(0x1, reserved: 4), .reservedBits, 1002), (frame(0x9, isFinal: false), .fragmentedControl, 1002),
        (frame(0x0, "x"), .unexpectedContinuation, 1002), ([0x81, 0x80, 0, 0, 0, 0], .maskedFrame, 1002),
        (frame(0x1, [0xFF]), .invalidText, 1007), (closeFrame(1005), .invalidCloseCode(1005), 1002),
        (closeFrame(1000, [0xFF]), .invalidCloseReason, 1007), (frame(0x8, [3]), .closePayloadTooShort, 1002),
        (frame(0x2, [UInt8](repeating: 0, count: 101)), .messageTooLong(limit: 100), 1009),
    ]

    @Test(.rules("6455-5.1-2", "6455-7.1.7-1", "6455-7.1.7-3", "6455-7.2.1-1", "6455-8.1-1"), arguments: faults)
    func `a fault ends the connection with its code, after what came before it was answered`(
        wire: [UInt8], error: WebSocketError, code: Int
    ) {
        var limits = WebSocketLimits()
        limits.messageBytes = 100
        for pieces in cuts(of: frame(0x1, "Hello") + wire + frame(0x1, "late")) {
            var conversation = Conversation(limits: limits)
            conversation.receive(pieces)
            #expect(conversation.written == Self.sent(0x1, Self.hello) + Self.sentClose(code))
            #expect(conversation.outcome == .failed(error))
            #expect(conversation.messages == [.text("Hello")])
        }
    }

    @Test(arguments: [[], [0x81], [0x81, 0x05, 0x48], frame(0x1, "Hello")] as [[UInt8]])
    func `a stream that ends without a close frame is a fault wherever it ends, and nothing is written`(wire: [UInt8]) {
        var conversation = Conversation()
        conversation.receive([wire])
        let before = conversation.written
        conversation.endStream()
        #expect(conversation.written == before)
        #expect(conversation.outcome == .failed(.endedWithoutClose))
    }
}
