import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Request trailers` {
    static let text: Bytes = "dunlins at dusk"

    /// Made anew for each time: a stream can be sent once.
    static let bodies: [(@Sendable () -> RequestBody, Bytes)] = [
        ({ .none }, ""), ({ .bytes(text) }, text),
        ({ .stream(UploadPieces(total: 30_000)) }, generated(30_000)),
        ({ .stream(UploadPieces(total: 30_000), length: 30_000) }, generated(30_000)),
    ]

    static func generated(_ count: Int) -> Bytes { LoopbackServer.GeneratedBody.bytes(0..<count) }

    @Test(.rules("9110-5.6.1-1", "9110-6.6.2-1"), arguments: bodies)
    func `trailers follow any request body, and are announced`(body: @Sendable () -> RequestBody, expected: Bytes)
        async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            _ = try await stage.session.put(
                "up", body: body().withTrailers(["X-Sum": "7", "X-More": "a b"]), as: .bytes)
            let seen = try #require(stage.server.requests.first)
            #expect(seen.body == expected)
            #expect(seen.fields["trailer"] == "X-Sum, X-More")
            #expect(seen.fields["transfer-encoding"] == "chunked")
            #expect(seen.trailers == ["X-Sum": "7", "X-More": "a b"])
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test(arguments: [0, 1, 300_000], [true, false])
    func `trailers follow a file, compressed or not`(count: Int, isCompressed: Bool) async throws {
        let scratch = try `File bodies`.Scratch(count)
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            var body = RequestBody.file(scratch.path)
            if isCompressed { body = try body.compressed() }
            _ = try await stage.session.put("up", body: body.withTrailers(["X-Sum": "7"]), as: .bytes)
            let seen = try #require(stage.server.requests.first)
            if isCompressed {
                #expect(seen.fields["content-encoding"] == "gzip")
                #expect(seen.body.prefix(2) == [0x1F, 0x8B])
            } else {
                #expect(seen.body == Self.generated(count))
            }
            #expect(seen.fields["transfer-encoding"] == "chunked")
            #expect(seen.trailers == ["X-Sum": "7"])
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `trailers are made when the body has been sent`() async throws {
        struct Counted: AsyncSequence, AsyncIteratorProtocol {
            var left = 3
            let count: @Sendable () -> Void
            func makeAsyncIterator() -> Self { self }
            mutating func next() async throws -> Bytes? {
                guard left > 0 else { return nil }
                (left, _) = (left - 1, count())
                return "x"
            }
        }
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let counter = Counter()
            let body = RequestBody.stream(Counted { counter.value.add(1, ordering: .relaxed) })
                .withTrailers("X-Count") { ["X-Count": "\(counter.value.load(ordering: .relaxed))"] }
            _ = try await stage.session.put("up", body: body, as: .bytes)
            #expect(stage.server.requests.first?.trailers == ["X-Count": "3"])
        }
    }

    final class Counter: Sendable {
        let value = Atomic<Int>(0)
    }

    @Test(
        .rules("9110-6.5.1-1", "9110-6.5.1-2"), arguments: ["Content-Length", "authorization", "Host", "X Evil"],
        [true, false])
    func `a field that may not be a trailer is refused`(name: String, announced: Bool) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let body = RequestBody.bytes(Self.text)
            let trailers: Fields = [name: "1"]
            let error = try await NetworkError.thrown {
                _ = try await stage.session.put(
                    "up", body: announced ? body.withTrailers(trailers) : body.withTrailers { trailers }, as: .bytes)
            }
            #expect(error.code == .invalidRequest)
            #expect(error.underlying != nil)
            #expect(error.requestMayHaveBeenSent == !announced)
            try await stage.expectHealthy()
        }
    }
}
