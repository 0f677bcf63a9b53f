import Dunlin
import DunlinInflate
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Content codings` {
    static let text = Bytes([UInt8](repeating: UInt8(ascii: "a"), count: 3000) + Array("dunlin".utf8))

    static func coded(_ plain: Bytes, _ codings: [ContentCodec]) throws -> Bytes {
        var bytes = plain
        for coding in codings {
            var encoder = try ContentEncoder(coding)
            bytes = Bytes(encoder.encode(bytes).array + encoder.finish().array)
        }
        return bytes
    }

    @Test(
        .rules("9110-8.4-2", "9110-12.5.3-1"), arguments: [[ContentCodec.gzip], [.deflate], [.deflate, .gzip]],
        [true, false])
    func `content codings are taken off, whether a body comes at once or in pieces`(
        codings: [ContentCodec], dripped: Bool
    ) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let wire = try Self.coded(Self.text, codings)
            let names = codings.map(\.name).joined(separator: ", ")
            let reply = LoopbackServer.Reply.response(fields: ["Content-Encoding": names], body: wire)
            stage.server.enqueue(dripped ? reply.dripping(5) : reply)
            let response = try await stage.session.get("text", as: .bytes)
            #expect(response.value == Self.text)
            #expect(response.fields["content-encoding"] == names)
            let attempt = try #require(response.metrics.hops.last)
            #expect(attempt.bodyBytes == wire.count)
            #expect(attempt.decodedBytes == Self.text.count)
            #expect(stage.server.requests.first?.fields["accept-encoding"] == "gzip, deflate")
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `content codings are taken off a stream as it is read`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let plain = LoopbackServer.GeneratedBody.bytes(0..<(1 << 20))
            let wire = try Self.coded(plain, [.gzip])
            stage.server.enqueue(.response(fields: ["Content-Encoding": "gzip"], body: wire))
            let (count, hash) = try await stage.session.withResponse(from: "big") { response in
                var hash = LoopbackServer.BodyHash()
                var count = 0
                for try await piece in response.body {
                    piece.withUnsafeBytes { hash.update($0) }
                    count += piece.count
                }
                #expect(response.metrics.hops.last?.decodedBytes == count)
                return (count, hash.value)
            }
            #expect(count == plain.count)
            #expect(hash == LoopbackServer.GeneratedBody.hash(length: plain.count))
        }
    }

    @Test func `a content coding stays on if the caller says so, if unknown, and on partial content`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let wire = try Self.coded(Self.text, [.gzip])
            stage.server.enqueue(
                .response(fields: ["Content-Encoding": "gzip"], body: wire),
                .response(fields: ["Content-Encoding": "br"], body: wire),
                .response(.partialContent, fields: ["Content-Encoding": "gzip"], body: wire))
            let asking = HTTPSession.Options(fields: ["Accept-Encoding": "gzip", "Range": "bytes=0-"])
            let raw = HTTPSession.Options(decodesContent: false)
            #expect(try await stage.session.get("x", options: raw, as: .bytes).value == wire)
            #expect(try await stage.session.get("x", as: .bytes).value == wire)
            #expect(try await stage.session.get("x", options: asking, as: .bytes).value == wire)
        }
    }

    /// What a caller says beside `Range`, and what is asked for then.
    private static let ranges: [(Fields, String?)] = [
        ([:], nil), (["Accept-Encoding": "gzip"], "gzip"), (["Accept-Encoding": "gzip, deflate"], "gzip, deflate"),
        (["Accept-Encoding": "identity"], "identity"),
    ]

    @Test(arguments: ranges, [true, false])
    func `a range request asks for no content coding unless the caller does, and gets no coded bytes unasked`(
        asked: (fields: Fields, codings: String?), isStreamed: Bool
    ) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let wire = try Self.coded(Self.text, [.gzip])
            stage.server.respond { _ in
                let fields: Fields = ["Content-Encoding": "gzip", "Content-Range": "bytes 0-9/99"]
                return .response(.partialContent, fields: fields, body: wire)
            }
            let options = HTTPSession.Options(fields: asked.fields.overlaid(with: ["Range": "bytes=0-9"]))
            func bytes() async throws -> Bytes {
                guard isStreamed else { return try await stage.session.get("x", options: options, as: .bytes).value }
                return try await stage.session.withResponse(from: "x", options: options) {
                    try await $0.body.reduce(into: Bytes()) { $0 = Bytes($0.array + $1.array) }
                }
            }
            if asked.codings == nil {
                let error = try await NetworkError.thrown { _ = try await bytes() }
                #expect(error.code == .decodingFailed && error.reason.contains("Accept-Encoding"))
                #expect(error.response?.status == .partialContent)
            } else {
                #expect(try await bytes() == wire)
            }
            #expect(stage.server.requests.first?.fields["accept-encoding"] == asked.codings)
            try await stage.expectHealthy()
        }
    }

    @Test func `a range that an interceptor or the session asks for is asked for without a coding`() async throws {
        let interceptors: [HTTPSession.Interception?] = [
            .call { request, next in try await next(request) { $0.head.fields["Range"] = "bytes=0-1" } },
            .exchange { request, next in try await next(request) { $0.head.fields["Range"] = "bytes=0-1" } }, nil,
        ]
        for interceptor in interceptors {
            try await Stage.with {
                if let interceptor { $0.interceptors = [interceptor] } else { $0.fields["Range"] = "bytes=0-1" }
            } _: { (stage: Stage) async throws in
                stage.server.respond { _ in
                    .response(.partialContent, fields: ["Content-Encoding": "gzip"], body: "x")
                }
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.code == .decodingFailed)
                let sent = stage.server.requests.map(\.fields)
                #expect(sent.map { $0["range"] } == ["bytes=0-1"] && sent.map { $0["accept-encoding"] } == [nil])
            }
        }
    }

    @Test(.rules("9110-14.2-1")) func `a range that is answered with the coded whole is decoded`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let wire = try Self.coded(Self.text, [.gzip])
            stage.server.enqueue(.response(fields: ["Content-Encoding": "gzip"], body: wire))
            let options = HTTPSession.Options(fields: ["Range": "bytes=0-9"])
            #expect(try await stage.session.get("x", options: options, as: .bytes).value == Self.text)
        }
    }

    @Test(arguments: [1, 10, 20])
    func `coded content that is cut, broken or followed by more is an error`(cut: Int) async throws {
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

    @Test func `coded content that decodes to far more than was sent is refused`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let zeros = Bytes([UInt8](repeating: 0, count: 8 << 20))
            let wire = try Self.coded(zeros, [.gzip])
            for dripped in [false, true] {
                let reply = LoopbackServer.Reply.response(fields: ["Content-Encoding": "gzip"], body: wire)
                stage.server.enqueue(dripped ? reply.dripping(8192) : reply)
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.code == .limitExceeded)
                #expect(error.reason.hasPrefix("the decoded content exceeds `configuration.limits.deco"))
            }
            try await stage.expectHealthy()
        }
    }

    @Test(.rules("9110-8.4-1", "9110-8.4-3"), arguments: [RequestBody.Compression.gzip, .deflate], [true, false])
    func `a request body is compressed on demand, streamed or not`(compression: RequestBody.Compression, streamed: Bool)
        async throws
    {
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

    /// The server answers each piece it could read before the next is made.
    @Test(arguments: [RequestBody.Compression.gzip, .deflate])
    func `the pieces of a compressed stream that is flushed can be decoded one by one`(
        compression: RequestBody.Compression
    ) async throws {
        let body = try RequestBody.stream(UploadPieces(total: 50_000)).compressed(with: compression, flushing: true)
        guard case .stream(nil, false, let make) = body.content else {
            Issue.record("a stream stays a stream")
            return
        }
        var decoder = try ContentDecoder([compression == .gzip ? .gzip : .deflate])
        var received: [UInt8] = []
        var count = 0
        func iterate(_ chunks: some RequestBody.Chunks) async throws {
            for try await coded in chunks {
                decoder.feed(coded)
                while let piece = try decoder.next() { received += piece.array }
                count += 1
                #expect(received.count == min(count * 10_000, 50_000))
            }
        }
        try await iterate(make())
        try decoder.finish()
        #expect(count == 6)
        #expect(Bytes(received) == LoopbackServer.GeneratedBody.bytes(0..<50_000))
    }

    @Test(arguments: [nil, 1000..<150_000] as [Range<Int>?])
    func `a file is compressed as it is sent, whole or in part`(range: Range<Int>?) async throws {
        let scratch = try `File bodies`.Scratch(200_000)
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let body = try RequestBody.file(scratch.path, range: range).compressed()
            #expect(body.isReplayable)
            for _ in 0..<2 { _ = try await stage.session.put("up", body: body, as: .bytes) }
            let plain = LoopbackServer.GeneratedBody.bytes(range ?? 0..<200_000)
            for seen in stage.server.requests {
                #expect(seen.fields["content-encoding"] == "gzip")
                #expect(seen.fields["transfer-encoding"] == "chunked")
                #expect(try Self.decoded(seen.body) == plain)
            }
            #expect(stage.server.requests.count == 2)
            #expect(stage.server.connectionCount == 1)
        }
    }

    private static func decoded(_ wire: Bytes) throws -> Bytes {
        var decoder = try ContentDecoder([.gzip])
        decoder.feed(wire)
        var plain: [UInt8] = []
        while let piece = try decoder.next() { plain += piece.array }
        try decoder.finish()
        return Bytes(plain)
    }

    @Test(arguments: [1000, 64 * 1024, 64 * 1024 + 1, 1 << 20], [true, false])
    func `a coding is taken off a body that came whole, however long it becomes`(count: Int, onLoop: Bool) async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            let plain = Bytes([UInt8](repeating: 97, count: count))
            let wire = try Self.coded(plain, [.gzip])
            stage.server.respond { _ in .response(fields: ["Content-Encoding": "gzip"], body: wire) }
            let session = stage.session
            let response =
                if onLoop {
                    try await session.onEventLoop { @concurrent in try await session.get("x", as: .bytes) }
                } else {
                    try await session.get("x", as: .bytes)
                }
            #expect(response.value == plain)
            #expect(response.metrics.hops.last?.bodyBytes == wire.count)
            #expect(response.metrics.hops.last?.decodedBytes == count)
            let streamed = try await session.withResponse(from: "x") { response in
                var count = 0
                for try await piece in response.body { count += piece.count }
                return count
            }
            #expect(streamed == count)
        }
    }
}
