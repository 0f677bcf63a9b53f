import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

/// Gives the numbers that it was given, again and again.
struct FixedNumbers: RandomNumberGenerator {
    var numbers: [UInt64]

    mutating func next() -> UInt64 {
        let first = numbers.removeFirst()
        numbers.append(first)
        return first
    }
}

@Suite struct `WebSocket sending` {
    private static func machine(_ masks: UInt64...) -> WebSocketSendMachine<FixedNumbers> {
        WebSocketSendMachine(masks: FixedNumbers(numbers: masks))
    }

    @Test(.rules("6455-5.1-1", "6455-5.3-2")) func `the masked examples of the RFC are written`() throws {
        // RFC 6455 §5.7.
        let hello: [UInt8] = [0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        var machine = Self.machine(0x37FA_213D)
        var buffer: [UInt8] = []
        try machine.append(WebSocketPiece(.text, "Hello"), into: &buffer)
        #expect(buffer == [0x81, 0x85] + hello)
        buffer = []
        try machine.append(.pong("Hello"), into: &buffer)
        #expect(buffer == [0x8A, 0x85] + hello)
    }

    @Test(
        .rules("6455-5.2-3"),
        arguments: [
            (0, [0x82, 0x80]), (125, [0x82, 0xFD]), (126, [0x82, 0xFE, 0, 126]), (65_535, [0x82, 0xFE, 0xFF, 0xFF]),
            (65_536, [0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func `a length takes as few bytes as it can`(length: Int, head: [UInt8]) throws {
        var machine = Self.machine(0)
        var buffer: [UInt8] = []
        try machine.append(WebSocketPiece(.binary, Bytes([UInt8](repeating: 5, count: length))), into: &buffer)
        #expect(buffer.prefix(head.count) == head[...])
        #expect(buffer.count == head.count + 4 + length)
    }

    @Test(.rules("6455-5.1-1", "6455-5.3-1")) func `each frame has a mask of its own`() throws {
        var machine = Self.machine(0x0101_0101, 0xFFFF_FFFF_0202_0202)
        var buffer: [UInt8] = []
        try machine.append(WebSocketPiece(.binary, [0, 0], isLast: false), into: &buffer)
        try machine.append(.ping([0]), into: &buffer)
        try machine.append(WebSocketPiece(.binary, [0]), into: &buffer)
        #expect(
            buffer == [0x02, 0x82, 1, 1, 1, 1, 1, 1] + [0x89, 0x81, 2, 2, 2, 2, 2] + [0x80, 0x81, 1, 1, 1, 1, 1])
    }

    @Test(.rules("6455-5.4-1", "6455-5.4-7"))
    func `only the first frame says what kind a message is, and that it is compressed`() throws {
        var machine = Self.machine(0)
        var buffer: [UInt8] = []
        for isLast in [false, false, true] {
            #expect(machine.isWithinMessage == !buffer.isEmpty)
            try machine.append(WebSocketPiece(.text, "", isCompressed: true, isLast: isLast), into: &buffer)
        }
        #expect(!machine.isWithinMessage)
        try machine.append(WebSocketPiece(.text, ""), into: &buffer)
        let mask: [UInt8] = [0, 0, 0, 0]
        #expect(buffer == [0x41, 0x80] + mask + [0x00, 0x80] + mask + [0x80, 0x80] + mask + [0x81, 0x80] + mask)
    }

    @Test(.rules("6455-5.4-5")) func `a message cannot begin within another`() throws {
        var machine = Self.machine(0)
        var buffer: [UInt8] = []
        try machine.append(WebSocketPiece(.text, "a", isLast: false), into: &buffer)
        let before = buffer
        for piece in [WebSocketPiece(.binary, "b"), WebSocketPiece(.text, "b", isCompressed: true)] {
            #expect(throws: WebSocketError.otherMessageBegun) { try machine.append(piece, into: &buffer) }
        }
        #expect(buffer == before)
        try machine.append(WebSocketPiece(.text, "b"), into: &buffer)
        #expect(!machine.isWithinMessage)
    }

    @Test(.rules("6455-5.5.1-1", "6455-5.5.1-2", "6455-5.5.1-3", "6455-6.1-1", "6455-7.1.1-3"))
    func `nothing is sent after a close frame`() throws {
        var machine = Self.machine(0)
        var buffer: [UInt8] = []
        try machine.append(.close(WebSocketClosing(.goingAway, reason: "bye")), into: &buffer)
        #expect(buffer == [0x88, 0x85, 0, 0, 0, 0, 0x03, 0xE9] + Array("bye".utf8))
        #expect(throws: WebSocketError.closed) { try machine.append(.pong(""), into: &buffer) }
        #expect(throws: WebSocketError.closed) { try machine.append(WebSocketPiece(.text, "a"), into: &buffer) }
        #expect(buffer.count == 11)
    }

    @Test(.rules("6455-5.5-1")) func `a ping of more than 125 bytes is refused`() throws {
        var machine = Self.machine(0)
        var buffer: [UInt8] = []
        try machine.append(.ping(Bytes([UInt8](repeating: 1, count: 125))), into: &buffer)
        buffer = []
        #expect(throws: WebSocketError.pingTooLong) {
            try machine.append(.ping(Bytes([UInt8](repeating: 1, count: 126))), into: &buffer)
        }
        #expect(buffer.isEmpty)
    }

    @Test(.rules("6455-5.3-2"), arguments: [0, 1, 2, 3, 4, 5, 1001])
    func `masking is the same for each length and offset, byte by byte and by the word`(offset: Int) {
        let mask = WebSocketMask(key: 0x1234_56F8)
        let key: [UInt8] = [0x12, 0x34, 0x56, 0xF8]
        for count in 0...100 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            let expected = bytes.indices.map { bytes[$0] ^ key[($0 + offset) % 4] }
            var masked = [UInt8](repeating: 0xEE, count: count + 1)
            masked.withUnsafeMutableBytes { target in
                bytes.withUnsafeBytes { mask.copy($0, to: target, offset: offset) }
            }
            #expect(masked == expected + [0xEE])
            // In the same memory, from an address that is no multiple of a word's size, and back.
            var shifted = [0x99] + bytes
            shifted.withUnsafeMutableBytes { memory in
                let part = UnsafeMutableRawBufferPointer(rebasing: memory[1...])
                mask.copy(UnsafeRawBufferPointer(part), to: part, offset: offset)
            }
            #expect(shifted == [0x99] + expected)
        }
    }

    @Test(.rules("6455-5.3-1", "6455-10.3-1")) func `the system's generator gives different masks`() throws {
        var machine = WebSocketSendMachine(masks: SystemRandomNumberGenerator())
        var masks: Set<[UInt8]> = []
        for _ in 0..<50 {
            var buffer: [UInt8] = []
            try machine.append(.ping(""), into: &buffer)
            masks.insert(Array(buffer[2..<6]))
        }
        #expect(masks.count >= 49)
    }
}
