import DunlinInflate
import DunlinTypes
import Testing

@Suite struct `Decompressing WebSocket messages` {
    private static let hello = Array("Hello".utf8)
    private static let first: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    /// The same text, as a reference to the message before it.
    private static let second: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]

    /// RFC 7692 §7.2.3: one block, a block without compression, a block marked as the last, two blocks, nothing.
    static let examples: [([UInt8], String)] = [
        (first, "Hello"),
        ([0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00], "Hello"),
        ([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00], "Hello"),
        ([0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00], "Hello"),
        ([0x00], ""),
        // Nothing, as zlib writes it, and without the empty block that should follow a last one.
        ([0x02, 0x00], ""), ([0x03, 0x00], ""), ([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], "Hello"),
        // Nothing but blocks that are marked as the last.
        ([0x03, 0x00, 0x03, 0x00, 0x03, 0x00], ""),
    ]

    @Test(arguments: examples, [true, false])
    func `the examples of RFC 7692 are decompressed, however they are cut`(
        example: ([UInt8], String), keepsContext: Bool
    ) {
        // What was decompressed before, and what follows, makes no difference.
        let wire = [Self.first, example.0, example.0, Self.first]
        let text = Array(example.1.utf8)
        for size in 1...8 {
            #expect(
                MessageOutcome(of: wire, size: size, keepsContext: keepsContext)
                    == MessageOutcome([Self.hello, text, text, Self.hello]))
        }
    }

    @Test func `a message refers to those before it only if the context is kept`() {
        let wire = [Self.first, Self.second, Self.second]
        #expect(MessageOutcome(of: wire) == MessageOutcome([Self.hello, Self.hello, Self.hello]))
        let forgetful = MessageOutcome(of: wire, keepsContext: false)
        #expect(forgetful.messages == [Self.hello])
        #expect(forgetful.error == .corrupt("invalid distance too far back"))
    }

    @Test func `what follows a block marked as the last may refer to what came before it`() {
        let last: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let both = [Self.hello + Self.hello]
        for size in 1...13 { #expect(MessageOutcome(of: [last + Self.second], size: size) == MessageOutcome(both)) }
        #expect(MessageOutcome(of: [last, Self.second]) == MessageOutcome([Self.hello, Self.hello]))
    }

    @Test(
        arguments: [
            [], [0xF2], [0xF2, 0x48, 0xCD, 0xC9], [0x00, 0x05, 0x00], [0x00, 0x00, 0x00, 0xFF, 0xFF],
            // A block that is longer than what is left of the message, the four bytes included.
            [0x00, 0x06, 0x00, 0xF9, 0xFF, 0x48],
        ] as [[UInt8]])
    func `a message that does not end with a whole block is damaged`(message: [UInt8]) {
        for size in [1, 2, .max] {
            let outcome = MessageOutcome(of: [Self.first, message], size: size)
            #expect(outcome.messages == [Self.hello])
            #expect(outcome.error != nil)
        }
    }

    @Test(arguments: [[0x06], [0x07], [0x00, 0x01, 0x00, 0x00, 0x00], [0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func `bytes that are no deflate are damaged, and the error is repeated`(message: [UInt8]) throws {
        var inflater = try MessageInflater(windowBits: 15, keepsContext: true, limit: nil)
        inflater.feed(Bytes(message), isLast: true)
        var errors: [InflateError] = []
        for _ in 0..<2 {
            do throws(InflateError) { while try inflater.next() != nil {} } catch { errors.append(error) }
            inflater.feed(Bytes(Self.first), isLast: true)
        }
        #expect(errors.count == 2)
        #expect(errors.first == errors.last)
    }

    @Test(arguments: [1, 7, 1000, .max])
    func `a large message is the same however it is cut, with each context`(size: Int) throws {
        let content = Payload.noise(20_000) + Payload.zeros(70_000)
        for keepsContext in [true, false] {
            var deflater = try MessageDeflater(windowBits: 15, keepsContext: keepsContext)
            let wire = (0..<2).map { _ in deflater.deflate(Bytes(content), isLast: true).array }
            let outcome = MessageOutcome(of: wire, size: size, keepsContext: keepsContext)
            #expect(outcome == MessageOutcome([content, content]))
        }
    }

    @Test(arguments: [0, 1, 4, 5, 6])
    func `a limit ends a message at its exact byte, and each message has it for itself`(limit: Int) {
        for size in [1, 3, .max] {
            let outcome = MessageOutcome(of: [Self.first, Self.first], size: size, limit: limit)
            let expected =
                limit < 5
                ? MessageOutcome([], unfinished: Array(Self.hello.prefix(limit)), .sizeExceeded(limit: limit))
                : MessageOutcome([Self.hello, Self.hello])
            #expect(outcome == expected)
        }
    }

    @Test func `a bomb is refused before it is decompressed`() throws {
        var deflater = try MessageDeflater(windowBits: 15, keepsContext: true)
        var bomb: [UInt8] = []
        let slice = Bytes(Payload.zeros(1 << 20))
        for _ in 0..<64 { bomb += deflater.deflate(slice, isLast: false) }
        bomb += deflater.deflate(.empty, isLast: true)
        #expect(bomb.count < 100_000)
        var inflater = try MessageInflater(windowBits: 15, keepsContext: true, limit: 100_000)
        inflater.feed(Bytes(bomb), isLast: true)
        var (count, largest) = (0, 0)
        #expect(throws: InflateError.sizeExceeded(limit: 100_000)) {
            while let piece = try inflater.next() {
                (count, largest) = (count + piece.count, max(largest, piece.count))
            }
        }
        #expect(count == 100_000)
        #expect(largest <= 64 * 1024)
    }

    @Test func `a window that was agreed on is enough for what was compressed in it`() throws {
        let content = Payload.noise(3000) + Payload.noise(3000)
        for bits in 9...15 {
            var deflater = try MessageDeflater(windowBits: bits, keepsContext: true)
            let wire = [content, content].map { deflater.deflate(Bytes($0), isLast: true).array }
            #expect(MessageOutcome(of: wire, windowBits: bits) == MessageOutcome([content, content]))
        }
        #expect(
            MessageOutcome(of: [Self.first, Self.second], windowBits: 8) == MessageOutcome([Self.hello, Self.hello]))
    }

    @Test func `a message that refers beyond the window is damaged`() throws {
        let content = Payload.noise(3000)
        var deflater = try MessageDeflater(windowBits: 15, keepsContext: true)
        let wire = [content, content].map { deflater.deflate(Bytes($0), isLast: true).array }
        #expect(wire[1].count < 100)
        #expect(MessageOutcome(of: wire, windowBits: 9).messages == [content])
    }
}
