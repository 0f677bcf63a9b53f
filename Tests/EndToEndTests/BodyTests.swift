import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Response bodies` {
    static let text: Bytes = "The dunlin probes the mud with quick, sewing-machine stitches."

    @Test(
        .rules("9112-6.3-8"),
        arguments: [
            LoopbackServer.Reply.response(body: text),
            .chunked([text[0..<1], text[1..<20], text[20..<text.count]], trailers: ["X-Sum": "7"]),
            .untilClose(text),
        ], [1, 2, 7, 1000])
    func `a response body arrives whole however it is split`(reply: LoopbackServer.Reply, size: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(reply.dripping(size))
            #expect(try await stage.session.get("text", as: .bytes).value == Self.text)
        }
    }

    @Test(
        .rules("9110-6.1-1", "9112-6.3-7", "9112-8-1"),
        arguments: [
            LoopbackServer.Reply.response(body: text), .chunked([text]), .chunked([text, text], trailers: ["a": "b"]),
        ], [10, 40, 80, 100])
    func `a body that is cut is an error, never a shorter body`(reply: LoopbackServer.Reply, count: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            for cut in [reply.truncatedAfter(count), reply.resetAfter(count)] {
                stage.server.enqueue(cut)
                let error = try await NetworkError.thrown { _ = try await stage.session.get("text", as: .bytes) }
                #expect(error.code == .connectionClosed)
            }
            try await stage.expectHealthy()
        }
    }

    @Test(
        .rules("9112-6.3-5"),
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX : y\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
            "HTTP/2 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "SSH-2.0-OpenSSH_9.2\r\n",
        ] as [Bytes])
    func `a response whose head or framing is broken fails as an invalid response`(reply: Bytes) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.raw(reply).closingSilently)
            let error = try await NetworkError.thrown { _ = try await stage.session.get("text", as: .bytes) }
            #expect(error.code == .invalidResponse)
            #expect(error.underlying != nil)
            try await stage.expectHealthy()
        }
    }

    /// In one piece or not, together with its head or after it.
    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 5),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", 5),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0),
            ("HTTP/1.1 204 No Content\r\n\r\n", nil),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", nil),
            ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", nil),
        ] as [(Bytes, Int?)])
    func `a body's expected length is what the server announced, if it did`(reply: Bytes, length: Int?) async throws {
        try await Stage.with { (stage: Stage) async throws in
            for reply in [LoopbackServer.Reply.raw(reply), .raw(reply).dripping(1)] {
                stage.server.enqueue(reply.closingSilently)
                try await stage.session.withResponse(from: "x") { response in
                    #expect(response.body.expectedLength == length)
                    for try await _ in response.body {}
                    #expect(response.body.expectedLength == length)
                }
            }
        }
    }

    @Test func `a response to HEAD has no expected body length`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(body: "hello"))
            try await stage.session.withResponse(from: "x", method: .head) { response in
                #expect(response.fields["content-length"] == "5" && response.body.expectedLength == nil)
            }
        }
    }

    @Test func `a large body is streamed in pieces`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let length = 16 << 20
            stage.server.enqueue(.generated(length: length))
            stage.server.respond { _ in .response(body: "next") }
            let (count, hash) = try await stage.session.withResponse(from: "big") { response in
                #expect(response.status == .ok)
                #expect(response.body.expectedLength == length)
                var hash = LoopbackServer.BodyHash()
                var count = 0
                for try await piece in response.body {
                    piece.withUnsafeBytes { hash.update($0) }
                    count += piece.count
                    #expect(piece.count <= 1 << 20)
                }
                return (count, hash.value)
            }
            #expect(count == length)
            #expect(hash == LoopbackServer.GeneratedBody.hash(length: length))
            #expect(try await stage.session.get("next", as: .string).value == "next")
            #expect(stage.server.connectionCount == 1, "a body read to its end gives its connection back")
        }
    }

    @Test func `a large body is collected whole`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let length = 3 << 20
            stage.server.enqueue(.generated(length: length))
            let body = try await stage.session.get("big", as: .bytes).value
            #expect(body == LoopbackServer.GeneratedBody.bytes(0..<length))
        }
    }

    /// A peer that was ahead and then pauses: nothing of what it sent may wait for more.
    @Test(arguments: [true, false])
    func `what has come of a large body is delivered while the server pauses`(hasLength: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let (sent, length) = (8 << 20 + 1000, 16 << 20)
            let goOn = LoopbackServer.Gate()
            let fields: Fields = hasLength ? ["Content-Length": "\(length)"] : ["Connection": "close"]
            let reply = LoopbackServer.Reply([
                .message(.init(.ok, fields: fields)), .generate(sent), .waitForSignal(goOn), .generate(length - sent),
            ])
            stage.server.enqueue(hasLength ? reply : reply.then(.close))
            stage.server.respond { _ in .response(body: "next") }
            let count = try await stage.session.withResponse(from: "big") { response in
                var count = 0
                for try await piece in response.body {
                    count += piece.count
                    if count == sent { goOn.open() }
                }
                return count
            }
            #expect(count == length)
            #expect(try await stage.session.get("next", as: .string).value == "next")
            #expect(stage.server.connectionCount == (hasLength ? 1 : 2))
        }
    }

    @Test(arguments: [true, false])
    func `a large body that no longer comes runs into the idle limit`(isStreamed: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue([
                .message(.init(.ok, fields: ["Content-Length": "\(16 << 20)"])), .generate(8 << 20 + 1000), .stall,
            ])
            let options = HTTPSession.Options(timeouts: .init(readIdle: .milliseconds(100)))
            let error = try await NetworkError.thrown {
                if !isStreamed { _ = try await stage.session.get("big", options: options, as: .bytes) }
                try await stage.session.withResponse(from: "big", options: options) { response in
                    for try await _ in response.body {}
                }
            }
            #expect(error.code == .timedOut)
            #expect(error.phase == .receive)
            try await stage.expectHealthy()
        }
    }

    @Test(.rules("9112-9.3-4"), arguments: [1 << 20, 1 << 20 + 1, 3 << 20, 8 << 20 - 1])
    func `a large body that was read leaves its connection fit for another request`(length: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/big", .generated(length: length))
            stage.server.route(.get, "/next", .response(body: "next"))
            for _ in 0..<3 {
                let whole = try await stage.session.get("big", as: .bytes).value
                #expect(whole.count == length && whole.last == LoopbackServer.GeneratedBody.byte(at: length - 1))
                #expect(try await stage.session.get("next", as: .string).value == "next")
                try await stage.session.withResponse(from: "big") { for try await _ in $0.body {} }
                #expect(try await stage.session.get("next", as: .string).value == "next")
            }
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test(arguments: [100, 1 << 20, 5 << 20])
    func `a large body that is cut is an error, whole or streamed`(cut: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let reply = LoopbackServer.Reply.generated(length: 8 << 20)
            for cut in [reply.truncatedAfter(cut), reply.resetAfter(cut)] {
                stage.server.enqueue(cut, cut)
                let whole = try await NetworkError.thrown { _ = try await stage.session.get("big", as: .bytes) }
                #expect(whole.code == .connectionClosed)
                let streamed = try await NetworkError.thrown {
                    try await stage.session.withResponse(from: "big") { for try await _ in $0.body {} }
                }
                #expect(streamed.code == .connectionClosed)
            }
            try await stage.expectHealthy()
        }
    }

    /// A length is a promise, and memory is not spent on it.
    @Test func `a cut body is an error even if its announced length is absurd`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue([
                .message(.init(.ok, fields: ["Content-Length": "\(Int.max)"])), .generate(1 << 20), .close,
            ])
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get("big", options: .init(bodyLimit: .none), as: .bytes)
            }
            #expect(error.code == .connectionClosed)
            try await stage.expectHealthy()
        }
    }

    @Test func `a body that nobody reads stalls the server`() async throws {
        var small = LoopbackServer.Configuration()
        small.sendBuffer = 64 << 10
        try await Stage.with(server: small) { (stage: Stage) async throws in
            let length = 256 << 20
            stage.server.enqueue(.generated(length: length))
            try await stage.session.withResponse(from: "endless") { response in
                var pieces = response.body.makeAsyncIterator()
                let first = try #require(try await pieces.next())
                #expect(!first.isEmpty)
                try await stage.server.wait { $0.blockedSends > 0 }
                #expect(stage.server.bytesSent < 32 << 20)
            }
            try await stage.server.wait { $0.open == 0 }
            try await stage.expectHealthy()
        }
    }

    @Test(.rules("9112-9.3-4")) func `a body dropped half-read closes its connection`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.generated(length: 64 << 20))
            try await stage.session.withResponse(from: "big") { response in
                var pieces = response.body.makeAsyncIterator()
                _ = try await pieces.next()
            }
            try await stage.eventually("the connection is gone") { stage.session.connections.open == 0 }
            try await stage.expectHealthy()
        }
    }

    @Test func `a body can be iterated only once`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(body: Self.text))
            let leaked = try await stage.session.withResponse(from: "text") { response in
                for try await _ in response.body {}
                let again = try await NetworkError.thrown { for try await _ in response.body {} }
                #expect(again.code == .bodyConsumed)
                return response.body
            }
            let late = try await NetworkError.thrown { for try await _ in leaked {} }
            #expect(late.code == .bodyConsumed)
        }
    }

    @Test(.rows("SM-40")) func `a body longer than its limit is refused, announced or not`() async throws {
        try await Stage.with(configure: { $0.limits.bodyBytes = 1000 }) { (stage: Stage) async throws in
            let body = LoopbackServer.GeneratedBody.bytes(0..<1001)
            for reply in [LoopbackServer.Reply.response(body: body), .chunked([body]), .generated(length: 1 << 20)] {
                stage.server.enqueue(reply)
                let error = try await NetworkError.thrown { _ = try await stage.session.get("big", as: .bytes) }
                #expect(error.code == .limitExceeded)
            }
            stage.server.enqueue(.response(body: body))
            let options = HTTPSession.Options(bodyLimit: 2000)
            #expect(try await stage.session.get("big", options: options, as: .bytes).value == body)
            stage.server.enqueue(.generated(length: 1 << 20))
            let unlimited = HTTPSession.Options(bodyLimit: .none)
            #expect(try await stage.session.get("big", options: unlimited, as: .bytes).value.count == 1 << 20)
        }
    }

    @Test(
        .rows("SM-42"), .rules("9110-6.4.1-1", "9110-15.3.5-1", "9110-15.3.6-1"),
        arguments: [HTTP.Status.noContent, .notModified, .resetContent])
    func `a response with status 204, 205 or 304 has an empty body`(status: HTTP.Status) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.raw(Bytes("HTTP/1.1 \(status) x\r\nContent-Length: 0\r\n\r\n")))
            let options = HTTPSession.Options(validatesResponse: false)
            #expect(try await stage.session.get("none", options: options, as: .bytes).body.isEmpty)
        }
    }

    @Test(.rows("HS-15"), .rules("9110-9.3.2-2", "9112-6.3-1"))
    func `a response to HEAD has no body whatever length is announced`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: Self.text) }
            for _ in 0..<2 {
                let response = try await stage.session.head("text")
                #expect(response.fields["content-length"] == "\(Self.text.count)")
                #expect(response.body.isEmpty)
            }
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test(.rules("9110-6.5.2-1", "9110-15.2-1", "9112-7.1.2-1"))
    func `a response brings trailers and interim responses along with its body`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(
                .chunked([Self.text], trailers: ["X-Sum": "42"]).precededBy(interim: .earlyHints, ["Link": "</a.css>"])
                    .precededBy(interim: 102))
            let response = try await stage.session.get("text", as: .bytes)
            #expect(response.value == Self.text)
            #expect(response.interim.map(\.status) == [102, .earlyHints])
            #expect(response.interim.last?.fields["link"] == "</a.css>")
            stage.server.enqueue(.chunked([Self.text, Self.text], trailers: ["X-Sum": "43"]).dripping(16))
            #expect(try await stage.session.get("text", as: .bytes).trailers["x-sum"] == "43")
        }
    }
}
