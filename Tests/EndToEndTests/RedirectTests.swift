import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A redirect` {
    static let location: Fields = ["Location": "/to"]
    static let long = LoopbackServer.GeneratedBody.bytes(0..<60_000)

    /// What the redirect's body is like, and how many connections it takes.
    static let bodies: [(String, LoopbackServer.Reply, Int)] = [
        ("none", .response(302, fields: location), 1),
        ("with the head", .response(302, fields: location, body: "moved"), 1),
        ("after the head", .response(302, fields: location, body: "moved").split(at: 50, 55), 1),
        ("in chunks", .chunked(["mo", "ved"], status: 302, fields: location), 1),
        ("small", .response(302, fields: location, body: long).split(at: 100, 40_000), 1),
        ("large", .generated(length: 200_000, status: 302, fields: location), 2),
        ("larger than announced", .chunked([long, long], status: 302, fields: location), 2),
        ("until the end", .untilClose("moved", status: 302, fields: location), 2),
        ("cut", .response(302, fields: location, body: "moved").truncatedAfter(60), 2),
    ]

    @Test(arguments: bodies)
    func `a redirect leaves its connection fit for use if its body is small`(
        name: String, reply: LoopbackServer.Reply, connections: Int
    ) async throws {
        // Time stands still: the rest of a body is waited for, however slow the machine is.
        try await Stage.with(clock: ManualClock(), tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(reply)
            stage.server.respond { .response(body: Bytes("for \($0.target)")) }
            let response = try await stage.session.get("from", as: .string)
            #expect(response.value == "for /to")
            #expect(response.metrics.hops.count == 2)
            #expect(stage.server.connectionCount == connections)
            try await stage.expectHealthy()
        }
    }

    @Test func `a redirect is followed though the rest of its body does not come`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            stage.server.enqueue([
                .message(.init(302, fields: ["Location": "/to", "Content-Length": "9"], body: "half")), .stall,
            ])
            stage.server.respond { _ in .response(body: "there") }
            async let response = stage.session.get("from", as: .string)
            while stage.server.requests.count < 2 { try await clock.advance(by: .milliseconds(600)) }
            #expect(try await response.value == "there")
        }
    }

    /// Each opens the gate once there is no more of it.
    static let replayable: [@Sendable (LoopbackServer.Gate) -> RequestBody] = [
        { gate in
            gate.open()
            return .bytes("small")
        },
        { gate in
            gate.open()
            return .bytes(LoopbackServer.GeneratedBody.bytes(0..<1_000_000))
        },
        { gate in .replayable(length: 300_000) { UploadPieces(total: 300_000, end: gate) } },
        { gate in .replayable { UploadPieces(total: 300_000, end: gate) }.withTrailers(["X-Sum": "1"]) },
    ]

    @Test(.rows("SM-88"), .rules("9110-15.4.8-1"), arguments: replayable.indices, [307, 308] as [HTTP.Status])
    func `a 307 or 308 redirect has the body sent again`(index: Int, status: HTTP.Status) async throws {
        try await Stage.with { (stage: Stage) async throws in
            // A stream that has not said yet that it is over is cut by an answer that is no success.
            let gate = LoopbackServer.Gate()
            // The pause lets the sender note that all is sent: what is cut short ends its connection.
            let moved = LoopbackServer.Reply.response(status, fields: Self.location, body: "moved")
            stage.server.enqueue(.init([.pause(.seconds(1))] + moved.steps).waiting(for: gate))
            stage.server.respond { .response(body: Bytes("\($0.method) \($0.bodyCount)")) }
            let response = try await stage.session.put("from", body: Self.replayable[index](gate), as: .string)
            let (first, second) = (stage.server.requests[0], stage.server.requests[1])
            #expect(response.value == "PUT \(first.bodyCount)")
            #expect(first.bodyHash == second.bodyHash)
            #expect(first.fields == second.fields)
            #expect(second.trailers == first.trailers)
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `a 303 redirect is followed though the request's body cannot be sent again`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(303, fields: Self.location))
            stage.server.respond { .response(body: Bytes("\($0.method) \($0.bodyCount)")) }
            let body = RequestBody.stream(UploadPieces(total: 200_000))
            let answer = try await stage.session.withResponse(from: "from", method: .post, body: body) { response in
                var text = ""
                for try await piece in response.body { text += String(piece) }
                return text + " " + (response.history.first?.url ?? "")
            }
            #expect(answer == "GET 0 \(stage.server.baseURL)/from")
        }
    }

    @Test func `a redirect that comes before the body can be followed with a one-shot body`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(307, fields: Self.location).beforeBody.closingAfter)
            stage.server.respond { .response(body: Bytes("\($0.bodyCount)")) }
            var options = HTTPSession.Options()
            options.expectsContinue = true
            options.continueTimeout = .seconds(600)
            let body = RequestBody.stream(UploadPieces(total: 200_000))
            let response = try await stage.session.put("from", body: body, options: options, as: .string)
            #expect(response.value == "200000")
        }
    }

    /// Its producer would wait for ever.
    @Test func `a redirect ends the sending of a body that is still on its way`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.response(307, fields: Self.location).beforeBody)
            stage.server.respond { .response(body: Bytes("\($0.bodyCount)")) }
            let begun = Atomic<Int>(0)
            let endless = AsyncStream<Bytes>.makeStream()
            let body = RequestBody.replayable {
                let isFirst = begun.add(1, ordering: .relaxed).oldValue == 0
                return Feed(stream: endless.stream, pieces: isFirst ? nil : 3)
            }
            let response = try await stage.session.put("from", body: body, as: .string)
            #expect(response.value == "3")
            #expect(begun.load(ordering: .relaxed) == 2)
        }
    }

    struct Feed: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let stream: AsyncStream<Bytes>
        var pieces: Int?

        func makeAsyncIterator() -> Self { self }

        mutating func next() async throws -> Bytes? {
            guard let left = pieces else {
                for await piece in stream { return piece }
                return nil
            }
            pieces = left - 1
            return left > 0 ? "x" : nil
        }
    }

    /// The idle connections to both servers are dead.
    @Test func `each hop is sent again over a new connection if its idle one is dead`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let other = try Stage.makeServer()
            defer { other.stop() }
            for server in [stage.server, other] { server.route(.get, "/warm", .response().closingOnNextRequest) }
            stage.server.route(.get, "/from", .response(302, fields: ["Location": "\(other.baseURL)/to"]))
            other.route(.get, "/to", .response(body: "there"))
            for url in [stage.server, other].map({ $0.baseURL + "/warm" }) {
                _ = try await stage.session.get(HTTP.Target(url), as: .bytes)
            }
            let response = try await stage.session.get("from", as: .string)
            #expect(response.value == "there")
            #expect(response.url == "\(other.baseURL)/to")
            #expect(response.history.count == 1)
        }
    }

    @Test(.rows("SM-81")) func `a redirect that a hook does not follow is delivered, streamed or whole`() async throws {
        try await Stage.with(configure: { $0.hooks.redirect = { _ in .stop } }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(302, fields: Self.location, body: Self.long).split(at: 100) }
            let options = HTTPSession.Options(validatesResponse: false)
            let response = try await stage.session.get("from", options: options, as: .bytes)
            #expect(response.status == 302)
            #expect(response.value == Self.long)
            let count = try await stage.session.withResponse(from: "from") { response in
                var count = 0
                for try await piece in response.body { count += piece.count }
                return count
            }
            #expect(count == Self.long.count)
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test(arguments: [false, true])
    func `a hook can give a redirect a body that no hop before had`(isOfRequest: Bool) async throws {
        let hook: @Sendable (HTTPSession.RedirectProposal) async -> HTTPSession.RedirectDecision? = { proposal in
            var next = proposal.next
            next.method = .put
            next.body = .stream(UploadPieces(total: 200_000))
            return .modify(next)
        }
        try await Stage.with(configure: { $0.hooks.redirect = isOfRequest ? nil : hook }) {
            (stage: Stage) async throws in
            stage.server.enqueue(.response(302, fields: Self.location))
            stage.server.respond { .response(body: Bytes("\($0.method) \($0.bodyCount)")) }
            var options = HTTPSession.Options()
            if isOfRequest { options.hooks.redirect = hook }
            #expect(try await stage.session.get("from", options: options, as: .string).value == "PUT 200000")
        }
    }

    @Test(.rows("SM-88")) func `a hook can give a redirect a new body for one that is gone`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(308, fields: Self.location))
            stage.server.respond { .response(body: Bytes("\($0.method) \($0.bodyCount)")) }
            var options = HTTPSession.Options()
            options.hooks.replacementBody = { _ in .stream(UploadPieces(total: 100_000), length: 100_000) }
            let body = RequestBody.stream(UploadPieces(total: 200_000), length: 200_000)
            let response = try await stage.session.post("from", body: body, options: options, as: .string)
            #expect(response.value == "POST 100000")
        }
    }
}

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A request in the middle of redirects` {
    /// Each number leads to the next, and none to an end.
    private static func endless(_ stage: Stage) {
        stage.server.respond {
            let number = Int($0.target.dropFirst()) ?? 0
            return .response(302, fields: ["Location": "/\(number + 1)"], body: "moved").split(at: number % 80)
        }
    }

    @Test(arguments: 1...12)
    func `a request ends when it is cancelled in the middle of redirects`(count: Int) async throws {
        try await Stage.with(tolerating: true, configure: { $0.redirects.limit = 100_000 }) {
            (stage: Stage) async throws in
            Self.endless(stage)
            let task = Task { try await stage.session.get("0", as: .bytes) }
            _ = try await stage.server.waitForRequests(count)
            if count.isMultiple(of: 2) {
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            } else {
                #expect(await stage.session.tasks.cancelAll() == 1)
                let error = try await NetworkError.thrown { _ = try await task.value }
                #expect(error.code == .cancelled)
            }
            #expect(await stage.session.tasks.count == 0)
            try await stage.expectHealthy()
        }
    }

    @Test func `a request ends when it is cancelled while a redirect's body does not come`() async throws {
        try await Stage.with(clock: ManualClock(), tolerating: true) { (stage: Stage) async throws in
            let sent = LoopbackServer.Gate()
            stage.server.enqueue([
                .message(.init(302, fields: ["Location": "/to", "Content-Length": "9"], body: "half")), .signal(sent),
                .stall,
            ])
            stage.server.respond { _ in .response(body: "there") }
            let task = Task { try await stage.session.get("from", as: .bytes) }
            try await sent.opened()
            #expect(await stage.session.tasks.cancelAll() == 1)
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .cancelled)
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test func `a request has one deadline for all its hops`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true, configure: { $0.timeouts.total = .seconds(5) }) {
            (stage: Stage) async throws in
            let goOn = LoopbackServer.Gate()
            stage.server.enqueue(.response(302, fields: ["Location": "/to"]).waiting(for: goOn), [.stall])
            let task = Task { try await stage.session.post("from", body: .string("x"), as: .bytes) }
            _ = try await stage.server.waitForRequests(1)
            try await clock.waitForDeadlines(1)
            try await clock.advance(by: .seconds(4))
            goOn.open()
            _ = try await stage.server.waitForRequests(2)
            for _ in 0..<20 where await stage.session.tasks.count > 0 { try await clock.advance(by: .seconds(2)) }
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .timedOut)
            #expect(error.phase == .firstByte)
            #expect(error.exceeded == .total)
            // The GET that timed out is safe; the POST before it is not.
            #expect(!error.isSafeToRetry)
        }
    }

    @Test func `a request in the middle of redirects shows which hop it is at`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let goOn = LoopbackServer.Gate()
            stage.server.enqueue(
                .response(302, fields: ["Location": "/1"]), .response(302, fields: ["Location": "/2"]),
                .response(body: "x").waiting(for: goOn))
            async let response = stage.session.get("0", as: .string)
            _ = try await stage.server.waitForRequests(3)
            #expect(await stage.session.tasks.all.map(\.state) == [.running(hop: 3)])
            goOn.open()
            #expect(try await response.metrics.hops.count == 3)
        }
    }
}
