import Dunlin
import DunlinInflate
import DunlinTesting
import LedgerRows
import Testing

/// What it takes to have one more content coding: what this file says of it, and a place in a list.
extension ContentCodec {
    static let rot13 = ContentCodec("rot13", aliases: ["x-rot13"], decoder: Rot13.self, encoder: Rot13.self)
}

/// Letters turned by half the alphabet. It has no end.
struct Rot13: DecodingEngine, EncodingEngine, ~Copyable {
    init() throws(InflateError) {}

    init(level: Int) throws(InflateError) {}

    mutating func goesOn(with byte: UInt8) -> Bool { true }

    mutating func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> CodingProgress {
        let count = min(input.count, output.count)
        for index in 0..<count { output[index] = Self.turned(input[index]) }
        return CodingProgress(consumed: count, produced: count, .ended)
    }

    mutating func encode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, _ flush: EncodingFlush
    ) -> CodingProgress {
        decode(input, into: output)
    }

    private static func turned(_ byte: UInt8) -> UInt8 {
        switch byte | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "m"): byte + 13
        case UInt8(ascii: "n")...UInt8(ascii: "z"): byte - 13
        default: byte
        }
    }
}

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A content coding of somebody's own` {
    private static let plain = Bytes(Array(repeating: Array("Hello, World 0\0".utf8), count: 5000).joined())

    private static let knowing: @Sendable (inout HTTPSession.Configuration) -> Void = {
        $0.codecs = .known.adding(.rot13)
    }

    private static func reply(_ body: Bytes, _ codings: String) -> LoopbackServer.Reply {
        .response(fields: ["Content-Encoding": codings], body: body)
    }

    @Test(.rules("9110-12.5.3-1"))
    func `a custom coding is asked for unless the fields differ or nothing is to be decoded`() async throws {
        try await Stage.with(configure: Self.knowing) { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            _ = try await stage.session.get("x", as: .bytes)
            _ = try await stage.session.get("x", options: .init(decodesContent: false), as: .bytes)
            _ = try await stage.session.get("x", options: .init(fields: ["Accept-Encoding": "br"]), as: .bytes)
            let asked = stage.server.requests.map { $0.fields["accept-encoding"] }
            #expect(asked == ["gzip, deflate, rot13", nil, "br"])
        }
        var configuration = HTTPSession.Configuration(fields: ["Accept-Encoding": "gzip"])
        configuration.codecs = .known.adding(.rot13)
        #expect(configuration.fields["Accept-Encoding"] == "gzip")
    }

    @Test(
        arguments: [
            ([.rot13], "rot13"), ([.rot13], "X-Rot13"), ([.rot13, .gzip], "rot13, gzip"),
            ([.gzip, .rot13], "gzip, rot13"), ([.deflate, .rot13, .rot13, .gzip], "deflate, rot13, x-rot13, gzip"),
        ] as [([ContentCodec], String)], [true, false])
    func `a custom coding is taken off, by itself and with others`(
        form: (codings: [ContentCodec], names: String), dripped: Bool
    ) async throws {
        let wire = try `Content codings`.coded(Self.plain, form.codings)
        try await Stage.with(configure: Self.knowing) { (stage: Stage) async throws in
            stage.server.respond { _ in
                dripped ? Self.reply(wire, form.names).dripping(997) : Self.reply(wire, form.names)
            }
            let response = try await stage.session.get("x", as: .bytes)
            #expect(response.value == Self.plain)
            #expect(response.metrics.hops.last?.decodedBytes == Self.plain.count)
            let streamed = try await stage.session.withResponse(from: "x") { response in
                var bytes: [UInt8] = []
                for try await piece in response.body { bytes += piece.array }
                return Bytes(bytes)
            }
            #expect(streamed == Self.plain)
        }
    }

    @Test(arguments: [[ContentCodec.rot13], [.rot13, .gzip], [.gzip, .rot13]])
    func `a custom coding is subject to the limits of decoding`(codings: [ContentCodec]) async throws {
        let wire = try `Content codings`.coded(Self.plain, codings)
        let names = codings.map(\.name).joined(separator: ", ")
        try await Stage.with {
            Self.knowing(&$0)
            $0.limits.decodedBytes = Self.plain.count - 1
        } _: { (stage: Stage) async throws in
            stage.server.enqueue(Self.reply(wire, names), Self.reply("x", "rot13, rot13, rot13, rot13, rot13"))
            for _ in 0..<2 {
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.code == .limitExceeded)
            }
        }
    }

    @Test func `gzip content cut short beneath a custom coding fails as truncated`() async throws {
        let wire = try `Content codings`.coded(Self.plain, [.gzip, .rot13])
        try await Stage.with(configure: Self.knowing) { (stage: Stage) async throws in
            stage.server.enqueue(Self.reply(wire[0..<(wire.count - 1)], "gzip, rot13"))
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .invalidContent)
            #expect(error.underlying as? InflateError == .truncated)
        }
    }

    @Test(.rules("9110-8.4-1"), arguments: [true, false]) func `a custom coding is put on a request body on demand`(
        streamed: Bool
    )
        async throws
    {
        let compression = try #require(RequestBody.Compression(.rot13))
        try await Stage.with(configure: Self.knowing) { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let body: RequestBody = streamed ? .stream(UploadPieces(total: 100_000)) : .bytes(Self.plain)
            let plain = streamed ? LoopbackServer.GeneratedBody.bytes(0..<100_000) : Self.plain
            _ = try await stage.session.post("x", body: try body.compressed(with: compression), as: .bytes)
            let seen = try #require(stage.server.requests.first)
            #expect(seen.fields["content-encoding"] == "rot13")
            #expect(seen.body == (try `Content codings`.coded(plain, [.rot13])))
        }
        #expect(RequestBody.Compression(rawValue: "gzip") == .gzip)
        #expect(RequestBody.Compression(rawValue: "rot13") == nil)
    }

    /// Unknown is what is not on the list, whatever it is called and whoever knows it otherwise.
    @Test func `a custom coding that is not on the session's list stays on`() async throws {
        let wire = try `Content codings`.coded(Self.plain, [.rot13])
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(Self.reply(wire, "rot13"))
            #expect(try await stage.session.get("x", as: .bytes).value == wire)
            #expect(stage.server.requests.first?.fields["accept-encoding"] == "gzip, deflate")
        }
    }
}
