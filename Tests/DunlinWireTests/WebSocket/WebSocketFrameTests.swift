import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

/// The rules of RFC 6455 for frames and fragments. Each input comes whole, byte by byte, and cut in two everywhere.
@Suite struct `WebSocket frames` {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let outcome: ReceiveOutcome

        init(_ name: String, _ bytes: [UInt8], _ events: [ReceiveOutcome.Event], _ error: WebSocketError? = nil) {
            self.name = name
            self.bytes = bytes
            outcome = ReceiveOutcome(events, error)
        }

        var testDescription: String { name }
    }

    /// The unmasked ones of RFC 6455 §5.7.
    static let examples: [Case] = [
        Case("a text in one frame", [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], [.text("Hello")]),
        Case(
            "a text in two frames", [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], [.text("Hello")]),
        Case("a ping", [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], [.ping("Hello")]),
        Case("256 bytes", [0x82, 0x7E, 0x01, 0x00] + long(256), [.binary(long(256))]),
        Case("65,536 bytes", [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + long(65_536), [.binary(long(65_536))]),
    ]

    static func long(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    @Test(.rules("6455-5.2-5", "6455-6.2-2"), arguments: examples)
    func `the examples of the RFC are read, however they are cut`(example: Case) {
        for pieces in cuts(of: example.bytes) { #expect(ReceiveOutcome(of: pieces) == example.outcome) }
    }

    @Test(.rules("6455-5.2-5"), arguments: [0, 1, 125, 126, 127, 128, 65_535, 65_536, 100_000])
    func `a message of any length is read, as text and as bytes`(length: Int) {
        let bytes = [UInt8](repeating: 0x2A, count: length)
        let text = ReceiveOutcome([.text(String(repeating: "*", count: length))])
        #expect(ReceiveOutcome(of: [frame(0x1, bytes)]) == text)
        for pieces in cuts(of: frame(0x2, bytes)) {
            #expect(ReceiveOutcome(of: pieces) == ReceiveOutcome([.binary(bytes)]))
        }
    }

    static let controls: [Case] = [
        Case("an empty ping", frame(0x9), [.ping("")]),
        Case("the longest ping", frame(0x9, long(125)), [.ping(Bytes(long(125)))]),
        Case("a ping of any bytes", frame(0x9, [0x00, 0xFF, 0xFE]), [.ping([0x00, 0xFF, 0xFE])]),
        Case("a pong that nobody asked for", frame(0xA, "x") + frame(0x9, "y"), [.pong("x"), .ping("y")]),
        Case("ten pings", (0..<10).flatMap { _ in frame(0x9, "p") }, Array(repeating: .ping("p"), count: 10)),
        Case("a ping of 126 bytes", frame(0x9, long(126)), [], .controlTooLong),
        Case("a pong of 65,536 bytes", frame(0xA, long(65_536)), [], .controlTooLong),
        Case("a close frame of 126 bytes", frame(0x8, long(126)), [], .controlTooLong),
        Case("a ping without an end", frame(0x9, isFinal: false), [], .fragmentedControl),
        Case("a pong without an end", frame(0xA, isFinal: false), [], .fragmentedControl),
        Case("a close frame without an end", frame(0x8, isFinal: false), [], .fragmentedControl),
    ]

    @Test(.rules("6455-5.4-3", "6455-5.5-1", "6455-5.5.3-3"), arguments: controls)
    func `a control frame is whole and has at most 125 bytes`(control: Case) {
        for pieces in cuts(of: control.bytes) { #expect(ReceiveOutcome(of: pieces) == control.outcome) }
    }

    static let heads: [Case] =
        (1...7).flatMap { reserved in
            [0x0, 0x1, 0x2, 0x8, 0x9, 0xA].map { opcode in
                Case(
                    "reserved bits \(reserved) on \(opcode)", frame(opcode, "x", reserved: reserved), [], .reservedBits)
            }
        }
        + [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF].map { opcode in
            Case("opcode \(opcode)", frame(0x1, "a") + frame(opcode), [.text("a")], .unknownOpcode(opcode))
        } + [
            Case(
                "a masked text", [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [], .maskedFrame),
            Case("a masked empty ping", [0x89, 0x80, 0, 0, 0, 0], [], .maskedFrame),
            Case("125 in two bytes", [0x82, 126, 0, 125] + long(125), [], .lengthNotMinimal),
            Case("0 in two bytes", [0x82, 126, 0, 0], [], .lengthNotMinimal),
            Case("65,535 in eight bytes", [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], [], .lengthNotMinimal),
            Case("0 in eight bytes", [0x82, 127, 0, 0, 0, 0, 0, 0, 0, 0], [], .lengthNotMinimal),
            Case("2^63", [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], [], .lengthTooLarge),
            Case("2^64 - 1", [0x82, 127] + [UInt8](repeating: 0xFF, count: 8), [], .lengthTooLarge),
            Case(
                "2^63 - 1", [0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7), [],
                .frameTooLong(limit: 16 * 1024 * 1024)),
        ]

    @Test(.rules("6455-5.1-2", "6455-5.2-1", "6455-5.2-2", "6455-5.2-4", "6455-10.7-1"), arguments: heads)
    func `a head that no server may send is refused`(head: Case) {
        for pieces in cuts(of: head.bytes) {
            let outcome = ReceiveOutcome(of: pieces)
            #expect(outcome == head.outcome)
            #expect(outcome.error?.closeCode == (outcome.error?.isLimit == true ? .messageTooBig : .protocolError))
        }
    }

    @Test(arguments: [
        ([0xC1], WebSocketError.reservedBits), ([0x83], .unknownOpcode(3)), ([0x09], .fragmentedControl),
        ([0x81, 0x80], .maskedFrame), ([0x89, 0x7E], .controlTooLong), ([0x82, 0x7F, 0x80], .lengthTooLarge),
        ([0x82, 0x7E, 0x00, 0x7D], .lengthNotMinimal),
    ])
    func `a head is refused at its first impossible byte`(bytes: [UInt8], error: WebSocketError) {
        #expect(ReceiveOutcome(of: [bytes]) == ReceiveOutcome([], error))
        #expect(ReceiveOutcome(of: [bytes.dropLast()]) == ReceiveOutcome([]))
    }

    static let fragments: [Case] = [
        Case(
            "a ping between two fragments",
            frame(0x1, "one", isFinal: false) + frame(0x9, "ping") + frame(0x0, "two"),
            [.ping("ping"), .text("onetwo")]),
        Case(
            "pings between fragments of one byte",
            "abc".utf8.enumerated().flatMap { frame($0.offset == 0 ? 1 : 0, [$0.element], isFinal: false) + frame(0x9) }
                + frame(0x0),
            [.ping(""), .ping(""), .ping(""), .text("abc")]),
        Case(
            "empty fragments", frame(0x1, isFinal: false) + frame(0x0, isFinal: false) + frame(0x0), [.text("")]),
        Case(
            "an empty fragment first and last",
            frame(0x2, isFinal: false) + frame(0x0, "x", isFinal: false) + frame(0x0), [.binary([0x78])]),
        Case("a continuation of nothing", frame(0x0, "x"), [], .unexpectedContinuation),
        Case("one that goes on", frame(0x0, "x", isFinal: false) + frame(0x0, "y"), [], .unexpectedContinuation),
        Case(
            "a continuation of a whole message", frame(0x1, "a") + frame(0x0, "b"), [.text("a")],
            .unexpectedContinuation),
        Case(
            "a message within another", frame(0x1, "a", isFinal: false) + frame(0x1, "b"), [], .unfinishedMessage),
        Case(
            "bytes within text", frame(0x1, "a", isFinal: false) + frame(0x9, "p") + frame(0x2, "b"), [.ping("p")],
            .unfinishedMessage),
        Case(
            "a close frame between fragments",
            frame(0x1, "a", isFinal: false) + closeFrame(1000) + frame(0x0, "b"), [.control(.close(normal))]),
    ]

    static let normal: WebSocketClosing = {
        do throws(WebSocketError) { return try WebSocketClosing(.normal) } catch { return .silent }
    }()

    @Test(.rules("6455-5.4-1", "6455-5.4-2", "6455-5.4-5", "6455-5.4-7"), arguments: fragments)
    func `a message is one frame or several, with only control frames between them`(fragments: Case) {
        for pieces in cuts(of: fragments.bytes) { #expect(ReceiveOutcome(of: pieces) == fragments.outcome) }
    }

    @Test func `nothing counts after a close frame`() {
        let bytes = closeFrame(1000) + frame(0x9, "late") + [0xFF, 0xFF]
        for pieces in cuts(of: bytes) {
            #expect(ReceiveOutcome(of: pieces) == ReceiveOutcome([.control(.close(Self.normal))]))
        }
    }

    @Test func `an error is repeated whatever comes`() {
        var machine = WebSocketReceiveMachine()
        machine.feed([0x83, 0x00, 0x81, 0x00])
        #expect(machine.next() == .fail(.unknownOpcode(3)))
        #expect(machine.next() == .fail(.unknownOpcode(3)))
        machine.feed(Bytes(frame(0x1, "x")))
        #expect(machine.next() == .fail(.unknownOpcode(3)))
    }

    /// Otherwise a peer could have any number of them worked on before others have their turn.
    @Test func `each empty frame of a message is told`() {
        var machine = WebSocketReceiveMachine()
        machine.feed([0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00])
        for isLast in [false, false, false, true] {
            #expect(machine.next() == .piece(WebSocketPiece(.text, .empty, isLast: isLast)))
        }
        #expect(machine.next() == .read)
    }

    @Test func `a piece of a message is a slice of what arrived`() throws {
        let bytes = Bytes(frame(0x2, Self.long(1000)))
        var machine = WebSocketReceiveMachine()
        machine.feed(bytes)
        guard case .piece(let piece) = machine.next() else {
            Issue.record("no piece")
            return
        }
        let isSame = bytes.withUnsafeBytes { whole in
            piece.bytes.withUnsafeBytes { $0.baseAddress == whole.baseAddress.map { $0 + 4 } }
        }
        #expect(isSame)
        #expect(piece == WebSocketPiece(.binary, Bytes(Self.long(1000)), isLast: true))
        #expect(machine.next() == .read)
    }
}
