import DunlinInflate
import DunlinTypes
import DunlinWire
import Testing

@Suite struct `A compressed WebSocket connection` {
    /// A server's frame with at most 65,535 bytes.
    private static func frame(
        _ opcode: UInt8, _ payload: some Collection<UInt8>, isFinal: Bool = true, isCompressed: Bool = false
    ) -> [UInt8] {
        let head = (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode
        let count = payload.count
        return [head] + (count < 126 ? [UInt8(count)] : [126, UInt8(count >> 8), UInt8(count & 0xFF)]) + payload
    }

    /// A message in frames whose payloads have at most `size` bytes.
    private static func frames(_ opcode: UInt8, _ payload: [UInt8], size: Int, isCompressed: Bool) -> [UInt8] {
        var wire: [UInt8] = []
        var start = 0
        repeat {
            let end = min(start + size, payload.count)
            wire += frame(
                start == 0 ? opcode : 0, payload[start..<end], isFinal: end == payload.count,
                isCompressed: isCompressed && start == 0)
            start = end
        } while start < payload.count
        return wire
    }

    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    @Test func `the fragmented example of RFC 7692 is read`() {
        let wire = Self.frame(1, Self.hello[..<3], isFinal: false, isCompressed: true) + Self.frame(0, Self.hello[3...])
        #expect(wire == [0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00])
        for pieces in cuts(of: wire) { #expect(CompressedOutcome(of: pieces) == CompressedOutcome([.text("Hello")])) }
    }

    @Test func `only the first frame of a message may say that it is compressed`() {
        let begun = Self.frame(1, Self.hello[..<3], isFinal: false, isCompressed: true)
        for fault in [
            Self.frame(0, Self.hello[3...], isCompressed: true), Self.frame(9, [], isCompressed: true),
            Self.frame(10, [], isCompressed: true), Self.frame(8, [], isCompressed: true),
        ] {
            for pieces in cuts(of: begun + fault) {
                #expect(CompressedOutcome(of: pieces) == CompressedOutcome([], .reservedBits))
            }
        }
        // A message whose first frame does not say so is not compressed.
        let plain = Self.frame(1, [0x61], isFinal: false) + Self.frame(0, Self.hello, isCompressed: true)
        #expect(CompressedOutcome(of: [plain]) == CompressedOutcome([], .reservedBits))
    }

    @Test func `the other reserved bits stay refused`() {
        for bits: UInt8 in [0x10, 0x20, 0x30, 0x50, 0x60, 0x70] {
            #expect(CompressedOutcome(of: [[0x81 | bits, 0x00]]) == CompressedOutcome([], .reservedBits))
        }
    }

    @Test func `messages that are not compressed come between, and are no context`() {
        let wire =
            Self.frame(1, Self.hello, isCompressed: true) + Self.frame(2, Self.hello) + Self.frame(1, "plain".utf8)
            + Self.frame(9, "p".utf8) + Self.frame(1, [0xF2, 0x00, 0x11, 0x00, 0x00], isCompressed: true)
        let messages: [WebSocketMessage] = [
            .text("Hello"), .binary(Bytes(Self.hello)), .text("plain"), .text("Hello"),
        ]
        for pieces in cuts(of: wire) {
            #expect(CompressedOutcome(of: pieces) == CompressedOutcome(messages, controls: [.ping("p")]))
        }
    }

    @Test func `an empty message may be compressed or not`() {
        let wire =
            Self.frame(1, [0x00], isCompressed: true) + Self.frame(2, [])
            + Self.frame(2, [0x02, 0x00], isCompressed: true)
        #expect(CompressedOutcome(of: [wire]) == CompressedOutcome([.text(""), .binary(""), .binary("")]))
        #expect(CompressedOutcome(of: [Self.frame(1, [], isCompressed: true)]).error == .corruptCompression)
    }

    @Test func `text is checked when it has been decompressed`() throws {
        var deflater = try MessageDeflater(windowBits: 15, keepsContext: true)
        let invalid = deflater.deflate([0x61, 0xED, 0xA0, 0x80], isLast: true).array
        let valid = deflater.deflate(Bytes("grüße 😀"), isLast: true).array
        #expect(
            CompressedOutcome(of: [Self.frame(1, invalid, isCompressed: true)]) == CompressedOutcome([], .invalidText))
        let wire = Self.frame(2, invalid, isCompressed: true) + Self.frames(1, valid, size: 1, isCompressed: true)
        for pieces in cuts(of: wire) {
            #expect(
                CompressedOutcome(of: pieces)
                    == CompressedOutcome([.binary([0x61, 0xED, 0xA0, 0x80]), .text("grüße 😀")]))
        }
    }

    @Test func `the limit of a message is that of its content`() throws {
        var limits = WebSocketLimits()
        limits.messageBytes = 10_000
        for (count, isAllowed) in [(10_000, true), (10_001, false)] {
            var deflater = try MessageDeflater(windowBits: 15, keepsContext: false)
            let wire = Self.frame(2, deflater.deflate(Bytes(Payload.zeros(count)), isLast: true), isCompressed: true)
            #expect(wire.count < 100)
            let outcome = CompressedOutcome(of: [wire], limits: limits)
            let expected: CompressedOutcome =
                isAllowed
                ? CompressedOutcome([.binary(Bytes(Payload.zeros(count)))])
                : CompressedOutcome([], .messageTooLong(limit: 10_000))
            #expect(outcome == expected)
        }
        // What cannot be compressed has the same limit.
        var deflater = try MessageDeflater(windowBits: 15, keepsContext: false, level: 0)
        let noise = Payload.noise(10_000)
        let wire = Self.frame(2, deflater.deflate(Bytes(noise), isLast: true), isCompressed: true)
        #expect(CompressedOutcome(of: [wire], limits: limits) == CompressedOutcome([.binary(Bytes(noise))]))
    }

    struct Terms: Sendable, CustomTestStringConvertible {
        var agreed = WebSocketDeflate()
        var testDescription: String {
            "\(agreed.serverKeepsContext ? "context" : "no context"), \(agreed.serverWindowBits) bits"
        }
    }

    static let terms: [Terms] = [true, false].flatMap { keeps in
        [9, 11, 15].map { bits in
            var terms = Terms()
            terms.agreed.serverKeepsContext = keeps
            terms.agreed.serverWindowBits = bits
            return terms
        }
    }

    /// Many messages of each size, in one frame and in several.
    @Test(arguments: terms, [16, 64, 256, 1024, 8192, 32_768])
    func `whatever was agreed on, messages of each size arrive as they were`(terms: Terms, size: Int) throws {
        var deflater = try MessageDeflater(
            windowBits: terms.agreed.serverWindowBits, keepsContext: terms.agreed.serverKeepsContext)
        var messages: [WebSocketMessage] = []
        var wire: [UInt8] = []
        for index in 0..<12 {
            let text = String(repeating: "{\"number\": \(index), \"word\": \"größe\"} ", count: size / 32 + 1)
            let content = index % 2 == 0 ? Array(text.utf8) : Payload.noise(size, seed: UInt64(index / 4 + 1))
            messages.append(index % 2 == 0 ? .text(text) : .binary(Bytes(content)))
            let payload = deflater.deflate(Bytes(content), isLast: true).array
            wire += Self.frames(
                index % 2 == 0 ? 1 : 2, payload, size: index % 3 == 0 ? 50_000 : size / 4 + 1, isCompressed: true)
            wire += Self.frame(9, [UInt8(index)])
        }
        let controls = (0..<12).map { WebSocketControl.ping([UInt8($0)]) }
        let pieces = stride(from: 0, to: wire.count, by: 1500).map { Array(wire[$0..<min($0 + 1500, wire.count)]) }
        for pieces in [[wire], pieces] {
            #expect(
                CompressedOutcome(of: pieces, agreed: terms.agreed) == CompressedOutcome(messages, controls: controls))
        }
    }
}
