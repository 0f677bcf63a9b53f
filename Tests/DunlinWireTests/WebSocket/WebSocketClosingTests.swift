import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `A WebSocket close frame` {
    @Test(
        .rules("6455-7.4-4"),
        arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])
    func `a code that is registered or free for applications is read and sent`(code: Int) throws {
        let closing = try WebSocketClosing(WebSocketCloseCode(rawValue: UInt16(code)), reason: "why")
        #expect(try WebSocketClosing(payload: closing.payload) == closing)
        for pieces in cuts(of: closeFrame(code, Array("why".utf8))) {
            #expect(ReceiveOutcome(of: pieces) == ReceiveOutcome([.control(.close(closing))]))
        }
        #expect(closing.answer.code == closing.code)
        #expect(closing.answer.reason.isEmpty)
    }

    @Test(
        .rules("6455-7.4-2", "6455-7.4-3"),
        arguments: [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
    func `any other code is neither read nor sent`(code: Int) {
        for pieces in cuts(of: closeFrame(code)) {
            let outcome = ReceiveOutcome(of: pieces)
            #expect(outcome == ReceiveOutcome([], .invalidCloseCode(UInt16(code))))
            #expect(outcome.error?.closeCode == .protocolError)
        }
        #expect(throws: WebSocketError.invalidCloseCode(UInt16(code))) {
            try WebSocketClosing(WebSocketCloseCode(rawValue: UInt16(code)))
        }
    }

    @Test func `an empty close frame says nothing, and is answered by one`() {
        let outcome = ReceiveOutcome(of: [frame(0x8)])
        #expect(outcome == ReceiveOutcome([.control(.close(.silent))]))
        #expect(WebSocketClosing.silent.payload.isEmpty)
        #expect(WebSocketClosing.silent.answer == .silent)
    }

    @Test(.rules("6455-5.5.1-1")) func `a close frame of one byte is refused`() {
        #expect(ReceiveOutcome(of: [frame(0x8, [0x03])]) == ReceiveOutcome([], .closePayloadTooShort))
        #expect(WebSocketError.closePayloadTooShort.closeCode == .protocolError)
    }

    @Test(.rules("6455-7.1.6-1"), arguments: [(123, true), (124, false)])
    func `a reason has at most 123 bytes`(length: Int, isAllowed: Bool) throws {
        let reason = String(repeating: "x", count: length)
        let wire = closeFrame(1000, Array(reason.utf8))
        guard isAllowed else {
            #expect(throws: WebSocketError.closeReasonTooLong) { try WebSocketClosing(.normal, reason: reason) }
            #expect(ReceiveOutcome(of: [wire]).error == .controlTooLong)
            return
        }
        let closing = try WebSocketClosing(.normal, reason: reason)
        #expect(ReceiveOutcome(of: [wire]) == ReceiveOutcome([.control(.close(closing))]))
    }

    @Test(.rules("6455-7.1.6-1"), arguments: [[0xCE, 0xBA, 0xED, 0xA0, 0x80], [0xC3], [0xFF]] as [[UInt8]])
    func `a reason that is not UTF-8 is refused with 1007`(reason: [UInt8]) {
        #expect(ReceiveOutcome(of: [closeFrame(1000, reason)]) == ReceiveOutcome([], .invalidCloseReason))
        #expect(WebSocketError.invalidCloseReason.closeCode == .invalidContent)
    }

    @Test(.rules("6455-7.4-1")) func `each error that the peer can be told of has a code that may be sent`() {
        let told: [WebSocketError: WebSocketCloseCode] = [
            .reservedBits: .protocolError, .unknownOpcode(3): .protocolError, .fragmentedControl: .protocolError,
            .controlTooLong: .protocolError, .maskedFrame: .protocolError, .lengthNotMinimal: .protocolError,
            .lengthTooLarge: .protocolError, .unexpectedContinuation: .protocolError,
            .unfinishedMessage: .protocolError, .invalidText: .invalidContent, .corruptCompression: .invalidContent,
            .frameTooLong(limit: 1): .messageTooBig, .messageTooLong(limit: 1): .messageTooBig,
            .outOfMemory: .internalError,
        ]
        for (error, code) in told {
            #expect(WebSocketClosing(answering: error)?.code == code)
            #expect(code.isSendable)
        }
        for error in [WebSocketError.endedWithoutClose, .noPong, .noClose, .closed, .otherMessageBegun, .pingTooLong] {
            #expect(WebSocketClosing(answering: error) == nil)
        }
    }
}
