import Dunlin
import DunlinInflate
import DunlinTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct `Content codings` {
    static let text = Bytes([UInt8](repeating: UInt8(ascii: "a"), count: 3000) + Array("dunlin".utf8))

    static func coded(_ plain: Bytes, _ codings: [ContentCoding]) throws -> Bytes {
        var bytes = plain
        for coding in codings {
            var encoder = try ContentEncoder(coding)
            bytes = Bytes(encoder.encode(bytes).array + encoder.finish().array)
        }
        return bytes
    }

    @Test(arguments: [[ContentCoding.gzip], [.deflate], [.deflate, .gzip]], [true, false])
    func `are taken off, in one piece or dripped`(codings: [ContentCoding], dripped: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let wire = try Self.coded(Self.text, codings)
            let names = codings.map(\.rawValue).joined(separator: ", ")
            let reply = LoopbackServer.Reply.response(fields: ["Content-Encoding": names], body: wire)
            stage.server.enqueue(dripped ? reply.dripping(5) : reply)
            let response = try await stage.session.get("text", as: .bytes)
            #expect(response.value == Self.text)
            #expect(response.fields["content-encoding"] == names)
            let attempt = try #require(response.metrics.attempts.last)
            #expect(attempt.bodyBytes == wire.count)
            #expect(attempt.decodedBytes == Self.text.count)
            #expect(stage.server.requests.first?.fields["accept-encoding"] == "gzip, deflate")
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `are taken off a stream as it is read`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let plain = LoopbackServer.GeneratedBody.bytes(0..<(1 << 20))
            let wire = try Self.coded(plain, [.gzip])
            stage.server.enqueue(.response(fields: ["Content-Encoding": "gzip"], body: wire))
            let (count, hash) = try await stage.session.withStream(from: "big") { response in
                var hash = LoopbackServer.BodyHash()
                var count = 0
                for try await piece in response.body {
                    piece.withUnsafeBytes { hash.update($0) }
                    count += piece.count
                }
                #expect(response.metrics.attempts.last?.decodedBytes == count)
                return (count, hash.value)
            }
            #expect(count == plain.count)
            #expect(hash == LoopbackServer.GeneratedBody.hash(length: plain.count))
        }
    }

    @Test func `stay on when the caller wants them, when unknown, and on parts`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let wire = try Self.coded(Self.text, [.gzip])
            stage.server.enqueue(
                .response(fields: ["Content-Encoding": "gzip"], body: wire),
                .response(fields: ["Content-Encoding": "br"], body: wire),
                .response(.partialContent, fields: ["Content-Encoding": "gzip"], body: wire))
            let raw = HTTPSession.Options(decodesContent: false)
            #expect(try await stage.session.get("x", options: raw, as: .bytes).value == wire)
            #expect(try await stage.session.get("x", as: .bytes).value == wire)
            #expect(try await stage.session.get("x", as: .bytes).value == wire)
        }
    }

    @Test(arguments: [1, 10, 20])
    func `that are cut or broken are errors`(cut: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let wire = try Self.coded(Self.text, [.gzip])
            var broken = wire.array
            broken[broken.count - 2] ^= 0xFF
            for body in [wire[0..<(wire.count - cut)], Bytes(broken), Bytes(wire.array + Array("tail".utf8))] {
                stage.server.enqueue(.response(fields: ["Content-Encoding": "gzip"], body: body))
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.code == .invalidContent)
            }
            try await stage.expectHealthy()
        }
    }

    @Test func `cannot be used as a bomb`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let zeros = Bytes([UInt8](repeating: 0, count: 8 << 20))
            let wire = try Self.coded(zeros, [.gzip])
            for dripped in [false, true] {
                let reply = LoopbackServer.Reply.response(fields: ["Content-Encoding": "gzip"], body: wire)
                stage.server.enqueue(dripped ? reply.dripping(8192) : reply)
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.code == .limitExceeded)
            }
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: [RequestBody.Compression.gzip, .deflate], [true, false])
    func `are put on requests on demand`(compression: RequestBody.Compression, streamed: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let plain = LoopbackServer.GeneratedBody.bytes(0..<200_000)
            let body: RequestBody = streamed ? .stream(UploadPieces(total: 200_000)) : .bytes(plain)
            _ = try await stage.session.post("up", body: try body.compressed(with: compression), as: .bytes)
            let seen = try #require(stage.server.requests.first)
            #expect(seen.fields["content-encoding"] == compression.rawValue)
            var decoder = try ContentDecoder([compression == .gzip ? .gzip : .deflate])
            decoder.feed(seen.body)
            var received: [UInt8] = []
            while let piece = try decoder.next() { received += piece.array }
            try decoder.finish()
            #expect(Bytes(received) == plain)
        }
    }
}
