import DunlinInflate
import DunlinTypes
import Testing

@Suite struct `Content encoder` {
    static let bodies = [
        [], [0], Array(Samples.text.utf8), Array(Samples.lines.utf8), Payload.noise(60_000), Payload.prose(60_000),
        Payload.zeros(60_000),
    ]

    @Test(arguments: ContentCodecs.known.all, [-1, 0, 1, 6, 9, 10])
    func `the content encoder makes what the decoder undoes`(coding: ContentCodec, level: Int) throws {
        for body in Self.bodies {
            let wire = try Payload.encoded([body], coding, level: level)
            #expect(DecodeOutcome(of: [wire], [coding]) == DecodeOutcome(body: body))
            #expect(wire.count < body.count + 100)
        }
    }

    @Test(arguments: [0, 1, 6])
    func `the content encoder keeps nothing back`(level: Int) throws {
        let noise = Payload.noise(90_000)
        for count in stride(from: 18_000, through: noise.count, by: 18_000) {
            let body = Array(noise[..<count])
            let wire = try Payload.encoded([body], level: level)
            #expect(DecodeOutcome(of: [wire], [.gzip]) == DecodeOutcome(body: body))
        }
    }

    @Test(arguments: ContentCodecs.known.all)
    func `the content encoder makes the same of a body however it is cut`(coding: ContentCodec) throws {
        for body in Self.bodies {
            let whole = try Payload.encoded([body], coding)
            for size in [1, 100, 40_000] where body.count <= size * 5000 {
                let pieces = stride(from: 0, to: body.count, by: size).map {
                    Array(body[$0..<min($0 + size, body.count)])
                }
                #expect(try Payload.encoded([[]] + pieces, coding) == whole)
            }
        }
    }

    @Test func `the content encoder puts neither time nor name in a gzip header`() throws {
        let wire = try Payload.encoded([Array(Samples.text.utf8)])
        #expect(wire.prefix(10) == [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
    }

    @Test func `an invalid level is moved to the nearest valid one`() throws {
        let body = Payload.prose(50_000)
        #expect(try Payload.encoded([body], level: .min) == Payload.encoded([body], level: 0))
        #expect(try Payload.encoded([body], level: .max) == Payload.encoded([body], level: 9))
        #expect(try Payload.encoded([body], level: 0).count > body.count)
        #expect(try Payload.encoded([body], level: 9).count < body.count / 2)
    }

    @Test func `the content encoder gives what is ready before the end`() throws {
        var encoder = try ContentEncoder(.gzip)
        let ready = encoder.encode(Bytes(Payload.noise(300_000)))
        #expect(ready.count > 200_000)
        #expect(encoder.finish().count < 100_000)
    }

    @Test(arguments: ContentCodecs.known.all, [0, 1, 6])
    func `the content encoder gives everything when it is flushed`(coding: ContentCodec, level: Int) throws {
        var encoder = try ContentEncoder(coding, level: level)
        var decoder = try ContentDecoder([coding])
        for piece in [[1], [], Array(Samples.text.utf8), Payload.noise(60_000), Payload.zeros(60_000)] {
            decoder.feed(Bytes(encoder.encode(Bytes(piece)).array + encoder.flush().array))
            var decoded: [UInt8] = []
            while let next = try decoder.next() { decoded += next.array }
            #expect(decoded == piece)
        }
        #expect(encoder.flush().isEmpty, "there is nothing left to give")
        decoder.feed(encoder.finish())
        #expect(try decoder.next() == nil)
        try decoder.finish()
    }
}
