import DunlinInflate
import DunlinTypes
import Testing

@Suite struct `Compressing WebSocket messages` {
    /// The messages compressed, each in slices of `size` bytes.
    private static func wire(
        _ messages: [[UInt8]], keepsContext: Bool, windowBits: Int = 15, level: Int = 6, size: Int = .max
    ) throws -> [[UInt8]] {
        var deflater = try MessageDeflater(windowBits: windowBits, keepsContext: keepsContext, level: level)
        return messages.map { message in
            var rest = message[...]
            var wire: [UInt8] = []
            repeat {
                let slice = Bytes(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
                wire += deflater.deflate(slice, isLast: rest.isEmpty)
            } while !rest.isEmpty
            return wire
        }
    }

    private static let hello = Array("Hello".utf8)

    @Test func `the examples of RFC 7692 are written`() throws {
        let first: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        #expect(
            try Self.wire([Self.hello, Self.hello], keepsContext: true) == [first, [0xF2, 0x00, 0x11, 0x00, 0x00]])
        #expect(try Self.wire([Self.hello, Self.hello], keepsContext: false) == [first, first])
    }

    @Test(arguments: [true, false])
    func `an empty message is one byte, wherever it comes`(keepsContext: Bool) throws {
        let messages = [[], Self.hello, [], [], Self.hello, []]
        let wire = try Self.wire(messages, keepsContext: keepsContext)
        for (message, bytes) in zip(messages, wire) where message.isEmpty { #expect(bytes == [0x00]) }
        #expect(MessageOutcome(of: wire, keepsContext: keepsContext) == MessageOutcome(messages))
    }

    @Test(arguments: 0...9)
    func `each level and window can be read again, by a reader of the same window`(level: Int) throws {
        let messages = [Payload.noise(20_000), Array(Samples.text.utf8), Payload.zeros(70_000), [], [1]]
        for bits in [9, 12, 15] {
            for keepsContext in [true, false] {
                let wire = try Self.wire(
                    messages + messages, keepsContext: keepsContext, windowBits: bits, level: level, size: 3000)
                let outcome = MessageOutcome(of: wire, keepsContext: keepsContext, windowBits: bits)
                #expect(outcome == MessageOutcome(messages + messages))
            }
        }
    }

    @Test func `the end of a message may be said after its last byte`() throws {
        var deflater = try MessageDeflater(windowBits: 15, keepsContext: true)
        let start = deflater.deflate(Bytes(Self.hello), isLast: false).array
        let end = deflater.deflate(.empty, isLast: true).array
        #expect(MessageOutcome(of: [start + end]) == MessageOutcome([Self.hello]))
    }

    @Test func `a message that was never begun and one that is compressed do not affect each other`() throws {
        // Two empty ends in a row: zlib writes nothing for the second, so it must not be asked.
        var deflater = try MessageDeflater(windowBits: 15, keepsContext: true)
        #expect(deflater.deflate(.empty, isLast: false).isEmpty)
        #expect(deflater.deflate(.empty, isLast: true) == [0x00])
        #expect(deflater.deflate(.empty, isLast: true) == [0x00])
    }

    @Test func `text that repeats gets smaller, and smaller still with context`() throws {
        let text = Array(String(repeating: "{\"id\": 17, \"name\": \"a name\"}, ", count: 20).utf8)
        let kept = try Self.wire([text, text], keepsContext: true)
        let forgotten = try Self.wire([text, text], keepsContext: false)
        #expect(forgotten[0] == forgotten[1])
        #expect(forgotten[0].count < text.count / 5)
        #expect(kept[1].count < forgotten[1].count)
    }
}
