import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `WebSocket text` {
    @Test(
        .rules("6455-5.6-1"),
        arguments: [
            ("Hello-µ@ßöäüàá-UTF-8!!", [3, 9]), ("κόσμε", [1, 2, 3]), ("日本語", [4]), ("😀😀", [1, 2, 3, 5]), ("", []),
        ])
    func `text may be cut within a character, by frames and by the stream`(text: String, cuts positions: [Int]) {
        let bytes = Array(text.utf8)
        var wire: [UInt8] = []
        var start = 0
        for end in positions {
            wire += frame(start == 0 ? 0x1 : 0x0, Array(bytes[start..<end]), isFinal: false) + frame(0x9)
            start = end
        }
        wire += frame(start == 0 ? 0x1 : 0x0, Array(bytes[start...]))
        let pings = [ReceiveOutcome.Event](repeating: .ping(""), count: positions.count)
        for pieces in cuts(of: wire) { #expect(ReceiveOutcome(of: pieces) == ReceiveOutcome(pings + [.text(text)])) }
    }

    @Test(.rules("6455-5.4-4")) func `text in fragments of one byte is put together`() {
        let text = Array("Hello-µ@ßöäüàá-UTF-8!!".utf8)
        let wire = text.enumerated().flatMap { frame($0.offset == 0 ? 1 : 0, [$0.element], isFinal: false) } + frame(0)
        #expect(ReceiveOutcome(of: [wire]) == ReceiveOutcome([.text("Hello-µ@ßöäüàá-UTF-8!!")]))
    }

    private static let invalid: [UInt8] = [0xCE, 0xBA, 0xED, 0xA0, 0x80, 0x65, 0x64, 0x69, 0x74, 0x65, 0x64]

    @Test(.rules("6455-5.6-1", "6455-8.1-1")) func `text that is not UTF-8 is refused with 1007`() {
        for wire in [
            frame(0x1, Self.invalid), frame(0x1, [0xCE, 0xBA, 0xED], isFinal: false) + frame(0x0, [0xA0, 0x80]),
            // It ends within a character.
            frame(0x1, [0xCE]), frame(0x1, [0xCE], isFinal: false) + frame(0x0),
            frame(0x1, [0xF4], isFinal: false) + frame(0x0, [0x90], isFinal: false),
        ] {
            for pieces in cuts(of: wire) { #expect(ReceiveOutcome(of: pieces) == ReceiveOutcome([], .invalidText)) }
        }
        #expect(WebSocketError.invalidText.closeCode == .invalidContent)
    }

    @Test func `text is refused at its first impossible byte, before the frame has ended`() {
        let wire = frame(0x1, Self.invalid)
        // The head, U+03BA and ED are possible; A0 behind ED is not.
        #expect(ReceiveOutcome(of: [Array(wire[..<5])]) == ReceiveOutcome([]))
        #expect(ReceiveOutcome(of: [Array(wire[..<6])]) == ReceiveOutcome([], .invalidText))
        #expect(ReceiveOutcome(of: [Array(wire[..<5]), [0xA0]]) == ReceiveOutcome([], .invalidText))
    }

    @Test(.rules("6455-5.6-2")) func `bytes that are no text need not be UTF-8`() {
        #expect(ReceiveOutcome(of: [frame(0x2, Self.invalid)]) == ReceiveOutcome([.binary(Self.invalid)]))
    }

    @Test func `the end of one text does not change how the next begins`() {
        let wire = frame(0x1, "é") + frame(0x1, "é") + frame(0x2, [0xC3]) + frame(0x1, "é") + frame(0x1, [0xA9])
        let events: [ReceiveOutcome.Event] = [.text("é"), .text("é"), .binary([0xC3]), .text("é")]
        for pieces in cuts(of: wire) { #expect(ReceiveOutcome(of: pieces) == ReceiveOutcome(events, .invalidText)) }
    }
}

@Suite struct `WebSocket messages` {
    typealias Action = WebSocketMessageMachine.Action

    private static func actions(
        _ pieces: [[UInt8]], _ kind: WebSocketMessage.Kind, _ delivery: WebSocketMessageMachine.Delivery
    ) throws -> [Action] {
        var machine = WebSocketMessageMachine(delivery)
        return try pieces.enumerated().map { index, piece in
            try machine.take(Bytes(piece), of: kind, isLast: index == pieces.count - 1)
        }
    }

    @Test func `a whole message is delivered with its last piece`() throws {
        #expect(
            try Self.actions([[0x61], [], [0xC3], [0xA9]], .text, .whole)
                == [.none, .none, .none, .deliver(.text("aé"), isLast: true)])
        #expect(try Self.actions([[]], .text, .whole) == [.deliver(.text(""), isLast: true)])
        #expect(
            try Self.actions([[1], [2], []], .binary, .whole) == [
                .none, .none, .deliver(.binary([1, 2]), isLast: true),
            ])
    }

    @Test func `a piece of text ends with a whole character, and the rest waits`() throws {
        #expect(
            try Self.actions([[0x61, 0xF0, 0x9F], [0x98], [0x80, 0x62, 0xC3], [0xA9]], .text, .pieces)
                == [
                    .deliver(.text("a"), isLast: false), .none, .deliver(.text("😀b"), isLast: false),
                    .deliver(.text("é"), isLast: true),
                ])
        #expect(
            try Self.actions([[0x61], []], .text, .pieces)
                == [.deliver(.text("a"), isLast: false), .deliver(.text(""), isLast: true)])
    }

    @Test func `bytes are delivered as they come, and empty pieces only at the end`() throws {
        #expect(
            try Self.actions([[1, 0xC3], [], [2], []], .binary, .pieces)
                == [
                    .deliver(.binary([1, 0xC3]), isLast: false), .none, .deliver(.binary([2]), isLast: false),
                    .deliver(.binary([]), isLast: true),
                ])
    }

    @Test(arguments: [WebSocketMessageMachine.Delivery.whole, .pieces])
    func `a message that exceeds the limit is refused at the piece that exceeds it`(
        delivery: WebSocketMessageMachine.Delivery
    ) throws {
        var limits = WebSocketLimits()
        limits.messageBytes = 3
        var machine = WebSocketMessageMachine(delivery, limits: limits)
        _ = try machine.take([1, 2, 3], of: .binary, isLast: true)
        _ = try machine.take([1, 2], of: .binary, isLast: false)
        #expect(throws: WebSocketError.messageTooLong(limit: 3)) {
            try machine.take([3, 4], of: .binary, isLast: false)
        }
        #expect(machine.waitingCount <= 3)
    }

    @Test func `text piece by piece holds back at most three bytes`() throws {
        var machine = WebSocketMessageMachine(.pieces)
        for byte in Array("a😀日é".utf8) + [0xF0, 0x9F, 0x98] {
            _ = try machine.take([byte], of: .text, isLast: false)
            #expect(machine.waitingCount <= 3)
        }
        #expect(machine.waitingCount == 3)
    }

    @Test func `a message in one piece is not copied, unless it would keep much more memory`() throws {
        let storage = [UInt8](repeating: 7, count: 1000)
        let large = Bytes(storage, in: 10..<900)
        var machine = WebSocketMessageMachine(.whole)
        guard case .deliver(.binary(let same), _) = try machine.take(large, of: .binary, isLast: true),
            case .deliver(.binary(let copy), _) = try machine.take(large[0..<9], of: .binary, isLast: true)
        else {
            Issue.record("nothing was delivered")
            return
        }
        #expect(same.storage.count == 1000)
        #expect(copy.storage.count == 9)
        #expect(copy == large[0..<9])
    }

    @Test func `a message's description shows none of it`() {
        #expect("\(WebSocketMessage.text("secret"))" == "text of 6 bytes")
        #expect("\(WebSocketMessage.binary("secret"))" == "6 bytes")
        #expect(!String(reflecting: WebSocketPiece(.text, "secret")).contains("secret"))
        var dumped = ""
        dump(WebSocketMessage.text("secret"), to: &dumped)
        #expect(!dumped.contains("secret"))
    }
}
