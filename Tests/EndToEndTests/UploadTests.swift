import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Request bodies` {
    @Test(
        .rows("SM-21"), .rules("9110-8.6-1", "9112-6.3-10"), arguments: [0, 1, 1000, 16 << 10, (16 << 10) + 1, 5 << 20])
    func `a body of bytes arrives as it is`(count: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            let body = LoopbackServer.GeneratedBody.bytes(0..<count)
            for _ in 0..<2 {
                let answer = try await stage.session.post("up", body: .bytes(body), as: .string).value
                #expect(answer == "\(LoopbackServer.GeneratedBody.hash(length: count))")
            }
            #expect(stage.server.requests.allSatisfy { $0.fields["content-length"] == "\(count)" })
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test(.rows("SM-21"), .rules("9112-6.3-9", "9112-6.3-10"), arguments: [0, 1, 10_000, 3 << 20], [true, false])
    func `a body from a sequence arrives as it is, announced or chunked`(count: Int, announced: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            let body = RequestBody.stream(UploadPieces(total: count), length: announced ? count : nil)
            let answer = try await stage.session.put("up", body: body, as: .string).value
            #expect(answer == "\(LoopbackServer.GeneratedBody.hash(length: count))")
            let seen = try #require(stage.server.requests.first)
            #expect(seen.fields["content-length"] == (announced ? "\(count)" : nil))
            #expect(seen.fields["transfer-encoding"] == (announced ? nil : "chunked"))
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test(.rules("9110-8.6-3"), arguments: [99_999, 100_001])
    func `a body of another length than announced fails its request`(announced: Int) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let body = RequestBody.stream(UploadPieces(total: 100_000), length: announced)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.put("up", body: body, as: .bytes)
            }
            #expect(error.code == .bodyLengthMismatch)
            try await stage.expectHealthy()
        }
    }

    @Test func `a request whose body's producer fails throws the producer's error`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let body = RequestBody.stream(UploadPieces(total: 1 << 20, failingAt: 200_000))
            await #expect(throws: UploadPieces.Broken.self) {
                _ = try await stage.session.put("up", body: body, as: .bytes)
            }
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: [true, false])
    func `a body refused before it was sent whole yields the refusal`(streamed: Bool) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let refusal = LoopbackServer.Reply.response(413, body: "too much").beforeBody.then(.stall)
            stage.server.enqueue(refusal)
            let count = 64 << 20
            let body: RequestBody =
                streamed
                ? .stream(UploadPieces(total: count), length: count)
                : .bytes(Bytes([UInt8](repeating: 0, count: count)))
            let error = try await NetworkError.thrown {
                _ = try await stage.session.post("up", body: body, as: .bytes)
            }
            #expect(error.code == .unacceptableStatus)
            #expect(error.response?.status == 413)
            #expect(error.body == "too much")
            try await stage.expectHealthy()
        }
    }

    @Test(
        .rules("9112-11-1"),
        arguments: [
            ("X-Evil", "a\r\nHost: other"), ("X-Evil", "a\0b"), ("X Evil", "a"), ("X-Evil:", "a"), ("", "a"),
            ("Content-Length", "7"), ("Transfer-Encoding", "chunked"),
        ])
    func `a field that would break the framing is never sent`(name: String, value: String) async throws {
        try await Stage.with { (stage: Stage) async throws in
            var fields = Fields()
            fields.append(name: name, value: value)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get("x", options: .init(fields: fields), as: .bytes)
            }
            #expect(error.code == .invalidRequest)
            #expect(!error.requestMayHaveBeenSent)
            #expect(stage.server.connectionCount == 0)
        }
    }

    @Test(.rules("9110-8.6-1", "9110-8.6-2", "9112-6-1"))
    func `an empty body is announced where a body means something`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            for method in [.get, .delete, .head, .post, .put, .patch] as [HTTP.Method] {
                _ = try await stage.session.request("x", method: method, body: .bytes(.empty), as: .bytes)
            }
            #expect(stage.server.requests.map { $0.fields["content-length"] } == [nil, nil, nil, "0", "0", "0"])
        }
    }

    @Test func `a CONNECT request and a 101 response are refused`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let tunnel = try await NetworkError.thrown {
                _ = try await stage.session.request("x", method: "CONNECT", as: .bytes)
            }
            #expect(tunnel.code == .invalidRequest && stage.server.connectionCount == 0)
            stage.server.enqueue(.raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"))
            let upgrade = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(upgrade.code == .invalidResponse)
            try await stage.server.wait { $0.open == 0 }
        }
    }

    @Test(arguments: [
        ("X-Evil", "a\r\nHost: other"), ("X-Evil Twin", "a"), ("Content-Length", "7"), ("Transfer-Encoding", "chunked"),
        ("Connection", "upgrade"),
    ])
    func `a refused head says for which field`(name: String, value: String) async throws {
        try await Stage.with { (stage: Stage) async throws in
            var fields = Fields()
            fields.append(name: name, value: value)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get("x", options: .init(fields: fields), as: .bytes)
            }
            #expect("\(error)".contains(String(name.prefix { $0 != " " })))
        }
    }
}
