import DunlinInflate
import DunlinTypes
import Testing

@Suite struct `Inflate limits` {
    private static func limits(_ change: (inout InflateLimits) -> Void) -> InflateLimits {
        var limits = InflateLimits()
        change(&limits)
        return limits
    }

    @Test(arguments: [0, 1, 50, 51, 52])
    func `a size limit ends the body at the exact byte, however it is cut`(limit: Int) {
        let body = Array(Samples.text.utf8)
        let error = limit < body.count ? InflateError.sizeExceeded(limit: limit) : nil
        for pieces in cuts(of: Samples.gzip) {
            let outcome = DecodeOutcome(of: pieces, [.gzip], limits: Self.limits { $0.decodedBytes = limit })
            #expect(outcome == DecodeOutcome(body: Array(body.prefix(limit)), error))
        }
    }

    @Test func `inflate limits count for what is between two codings as well`() throws {
        // Thousands of empty members: they shrink to little when compressed and come to nothing when decoded.
        let members = Array(repeatElement(Samples.gzipEmpty, count: 5000).joined())
        let wire = try Payload.encoded([members])
        #expect(wire.count < 1000)
        #expect(DecodeOutcome(of: [wire], [.gzip, .gzip]) == DecodeOutcome(""))
        let small = Self.limits { $0.decodedBytes = members.count - 1 }
        #expect(
            DecodeOutcome(of: [wire], [.gzip, .gzip], limits: small).error == .sizeExceeded(limit: members.count - 1))
        let flat = Self.limits {
            $0.ratio = 10
            $0.ratioFloor = 10_000
        }
        #expect(DecodeOutcome(of: [wire], [.gzip, .gzip], limits: flat).error == .ratioExceeded(limit: 10))
    }

    @Test(arguments: [1 << 20, 4096, 100])
    func `a ratio limit ends a body that grows too much`(pieceSize: Int) throws {
        let wire = try Payload.encoded([Payload.zeros(10 << 20)])
        let limits = Self.limits {
            $0.ratio = 100
            $0.ratioFloor = 100_000
        }
        var decoder = try ContentDecoder([.gzip], limits: limits)
        var rest = Bytes(wire)
        var error: InflateError?
        do throws(InflateError) {
            while !rest.isEmpty {
                let count = min(pieceSize, rest.count)
                decoder.feed(rest[0..<count])
                rest = rest[count..<rest.count]
                while let piece = try decoder.next() { #expect(piece.allSatisfy { $0 == 0 }) }
            }
        } catch let thrown {
            error = thrown
        }
        #expect(error == .ratioExceeded(limit: 100))
        #expect(decoder.decodedCount <= 100_000)
        #expect(throws: InflateError.ratioExceeded(limit: 100)) { try decoder.next() }
    }

    @Test func `only the part of the wire that was used counts for the ratio`() throws {
        // The bomb comes with ballast behind it, in the same piece.
        let bomb = try Payload.encoded([Payload.zeros(2 << 20)])
        let ballast = try Payload.encoded([Payload.noise(100_000)])
        let limits = Self.limits { $0.ratio = 100 }
        #expect(DecodeOutcome(of: [bomb + ballast], [.gzip], limits: limits).error == .ratioExceeded(limit: 100))
        #expect(DecodeOutcome(of: [ballast + bomb], [.gzip], limits: limits).error == nil)
    }

    @Test func `an exceeded limit is final, though what follows would mend the ratio`() throws {
        let bomb = try Payload.encoded([Payload.zeros(2 << 20)])
        let ballast = try Payload.encoded([Payload.noise(100_000)])
        var decoder = try ContentDecoder([.gzip], limits: Self.limits { $0.ratio = 100 })
        decoder.feed(Bytes(bomb + ballast))
        #expect(throws: InflateError.ratioExceeded(limit: 100)) { while try decoder.next() != nil {} }
        let count = decoder.decodedCount
        for _ in 0..<100 {
            #expect(throws: InflateError.ratioExceeded(limit: 100)) { try decoder.next() }
        }
        #expect(throws: InflateError.ratioExceeded(limit: 100)) { try decoder.finish() }
        #expect(decoder.decodedCount == count)
    }

    @Test func `a small body may repeat itself, and so may any body without limits`() throws {
        let small = try Payload.encoded([Payload.zeros(1 << 20)])
        #expect(DecodeOutcome(of: [small], [.gzip], limits: Self.limits { $0.ratio = 1 }).error == nil)
        let large = try Payload.encoded([Payload.zeros(3 << 20)], level: 9)
        #expect(DecodeOutcome(of: [large], [.gzip]).error == .ratioExceeded(limit: 1000))
        let free = Self.limits {
            $0.ratio = nil
            $0.decodedBytes = nil
        }
        let outcome = DecodeOutcome(of: [large], [.gzip], limits: free)
        #expect(outcome.body.count == 3 << 20)
        #expect(outcome.error == nil)
    }

    @Test func `inflate limits are finite by default and end a body compressed twice`() throws {
        let bomb = try Payload.encoded([try Payload.encoded([Payload.zeros(16 << 20)])])
        #expect(bomb.count < 400)
        var decoder = try ContentDecoder([.gzip, .gzip])
        decoder.feed(Bytes(bomb))
        #expect(throws: InflateError.ratioExceeded(limit: 1000)) { while try decoder.next() != nil {} }
        #expect(decoder.decodedCount <= 1 << 20)
        #expect(InflateLimits().decodedBytes == 256 << 20)
    }

    @Test func `inflate limits are told apart from faults`() {
        let limits: [InflateError] = [.ratioExceeded(limit: 1), .sizeExceeded(limit: 1), .tooManyCodings(limit: 1)]
        let faults: [InflateError] = [
            .corrupt("x"), .truncated, .trailingData, .outOfMemory, .decodingOnly(coding: "x"),
        ]
        #expect(limits.allSatisfy { $0.isLimit })
        #expect(!faults.contains { $0.isLimit })
        #expect(Set((limits + faults).map(\.description)).count == 8)
        #expect((limits + faults).compactMap(\.setting) == ["decodingRatio", "decodedBytes"])
    }
}
