import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Progress of a request` {
    typealias Progress = HTTPSession.TransferProgress

    /// What a listener hears who listens from the beginning.
    private static func all(_ stream: AsyncStream<Progress>) async -> [Progress] {
        var all: [Progress] = []
        for await step in stream { all.append(step) }
        return all
    }

    /// What holds for every series.
    private static func check(_ all: [Progress], _ location: SourceLocation = #_sourceLocation) {
        #expect(all.filter(\.isFinal).count == 1, sourceLocation: location)
        #expect(all.last?.isFinal == true, sourceLocation: location)
        for (one, next) in zip(all, all.dropFirst()) {
            #expect(one.wireBytes <= next.wireBytes, sourceLocation: location)
            #expect(one.decodedBytes <= next.decodedBytes, sourceLocation: location)
        }
        #expect(all.allSatisfy { ($0.fraction ?? 0) <= 1 }, sourceLocation: location)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var reply: LoopbackServer.Reply
        var wire: Int
        var decoded: Int
        var total: Int?
        var method = HTTP.Method.get
    }

    static let cases: [Case] = [
        Case(testDescription: "empty", reply: .response(), wire: 0, decoded: 0, total: 0),
        Case(testDescription: "no content", reply: .response(.noContent), wire: 0, decoded: 0, total: 0),
        Case(testDescription: "one byte", reply: .response(body: "x"), wire: 1, decoded: 1, total: 1),
        Case(testDescription: "head", reply: .response(body: "x"), wire: 0, decoded: 0, total: 0, method: .head),
        Case(
            testDescription: "long", reply: .generated(length: 3 << 20), wire: 3 << 20, decoded: 3 << 20,
            total: 3 << 20),
        Case(
            testDescription: "dripping", reply: LoopbackServer.Reply.response(body: "abcdefgh").dripping(3), wire: 8,
            decoded: 8, total: 8),
        Case(
            testDescription: "chunked", reply: .chunked(["abc", "defgh"]).dripping(7), wire: 8, decoded: 8, total: nil),
        Case(testDescription: "until close", reply: .untilClose("abcdefgh"), wire: 8, decoded: 8, total: nil),
    ]

    @Test(.rows("SM-27", "SM-30", "SM-35"), arguments: cases)
    func `progress counts received and decoded bytes, and ends with one final value`(
        of: Case
    ) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(of.reply)
            let task = try stage.session.task("body", method: of.method, as: .bytes)
            async let heard = Self.all(task.downloadProgress)
            _ = try await task.value
            let all = await heard
            Self.check(all)
            let last = try #require(all.last)
            #expect(last.wireBytes == of.wire)
            #expect(last.decodedBytes == of.decoded)
            // A body that came at once is known to its end, whatever its framing.
            if last.totalBytes != nil || of.total != nil {
                #expect(last.totalBytes == of.wire)
                #expect(last.fraction == 1)
            }
            #expect(await Self.all(task.downloadProgress).map(\.wireBytes) == [of.wire])
        }
    }

    @Test(.rows("SM-36"), arguments: [false, true])
    func `progress counts coded content as received, and the decoded bytes beside it`(
        isDripped: Bool
    ) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let plain = Bytes(String(repeating: "the same again, ", count: 40_000))
            guard case .bytes(let coded) = try RequestBody.bytes(plain).compressed().content else { return }
            let reply = LoopbackServer.Reply.response(fields: ["Content-Encoding": "gzip"], body: coded)
            stage.server.enqueue(isDripped ? reply.dripping(100) : reply)
            let task = try stage.session.task("coded", as: .bytes)
            async let heard = Self.all(task.downloadProgress)
            #expect(try await task.value == plain)
            let all = await heard
            Self.check(all)
            let last = try #require(all.last)
            #expect([last.wireBytes, last.decodedBytes, last.totalBytes] == [coded.count, plain.count, coded.count])
            #expect(last.fraction == 1)
        }
    }

    static let bodies: [(String, RequestBody, Int, Int?)] = [
        ("none", .none, 0, 0),
        ("small", .string("abc"), 3, 3),
        ("large", .bytes(Bytes([UInt8](repeating: 7, count: 3 << 20))), 3 << 20, 3 << 20),
        ("stream of known length", .stream(UploadPieces(total: 300_000), length: 300_000), 300_000, 300_000),
        ("stream of unknown length", .replayable { UploadPieces(total: 300_000) }, 300_000, nil),
        ("file", .file("/etc/services", range: 0..<5000), 5000, 5000),
    ]

    @Test(.rows("SM-33", "SM-35", "SM-89"), arguments: bodies)
    func `upload progress counts what the socket has taken of the request's body`(
        name: String, body: RequestBody, count: Int, total: Int?
    ) async throws {
        guard !Stage.isSecure || name != "stream of known length" else { return }
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response())
            let task = try stage.session.task("up", method: .post, body: body, as: .bytes)
            async let heard = Self.all(task.uploadProgress)
            _ = try await task.value
            let all = await heard
            Self.check(all)
            #expect(all.last?.wireBytes == count)
            #expect(all.last?.totalBytes == total)
        }
    }

    @Test(.rows("SM-44")) func `progress ends with what there was when the request fails or is cancelled`() async throws
    {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(LoopbackServer.Reply.response(body: "abcdefgh").cutAfter(70))
            stage.server.enqueue(
                LoopbackServer.Reply.response(fields: ["Content-Length": "8"]).then(.send("abc"), .stall))
            let cut = try stage.session.task("cut", as: .bytes)
            _ = await cut.result
            Self.check(await Self.all(cut.downloadProgress))
            let stalled = try stage.session.task("stalls", as: .bytes)
            stalled.resume()
            async let heard = Self.all(stalled.downloadProgress)
            try await stage.eventually("some has come") { stalled.downloaded.wireBytes == 3 }
            stalled.cancel()
            let all = await heard
            Self.check(all)
            #expect(all.last?.wireBytes == 3)
            #expect(all.last?.totalBytes == 8)
            let error = try await NetworkError.thrown { _ = try await stalled.value }
            #expect(error.response?.status == .ok)
            #expect(error.body == "abc")
        }
    }
}
