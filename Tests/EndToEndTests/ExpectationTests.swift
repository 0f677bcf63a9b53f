import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Expectations` {
    static let count = 100_000
    static let bodies: [@Sendable () -> RequestBody] = [
        { .bytes("small") }, { .bytes(LoopbackServer.GeneratedBody.bytes(0..<count)) },
        { .stream(UploadPieces(total: count), length: count) }, { .stream(UploadPieces(total: count)) },
    ]

    private static func options(_ timeout: Duration = .seconds(600)) -> HTTPSession.Options {
        var options = HTTPSession.Options(timeouts: .init(connect: .none, send: .none, firstByte: .none, total: .none))
        options.expectsContinue = true
        options.continueTimeout = timeout
        return options
    }

    /// The server sends its 100 only if nothing of the body is there yet.
    @Test(.rules("9110-10.1.1-2"), arguments: bodies.indices, [true, false])
    func `a body with expectsContinue is held back until the server says to continue`(index: Int, ownField: Bool)
        async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            var options = Self.options()
            if ownField {
                options.expectsContinue = false
                options.fields["Expect"] = "100-continue"
            }
            let response = try await stage.session.put("up", body: Self.bodies[index](), options: options, as: .bytes)
            #expect(response.interim.map(\.status) == [.continue])
            let seen = try #require(stage.server.requests.first)
            #expect(seen.wasContinued && seen.isComplete)
            #expect(seen.fields.values(of: "expect") == ["100-continue"])
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test(.rules("9110-10.1.1-3"), arguments: bodies.indices)
    func `the body is sent without a 100 when the server says nothing for long`(index: Int) async throws {
        var mute = LoopbackServer.Configuration()
        mute.answersExpectations = false
        let clock = ManualClock()
        try await Stage.with(server: mute, clock: clock) { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            async let answer = stage.session.put(
                "up", body: Self.bodies[index](), options: Self.options(.seconds(1)), as: .bytes)
            // In steps so small that no other limit is reached before a slow machine has sent the body.
            try await clock.advance(by: .milliseconds(20), until: "the body is sent") {
                !stage.server.requests.isEmpty
            }
            #expect(try await answer.status == .ok)
            #expect(stage.server.requests.first?.wasContinued == false)
        }
    }

    @Test(.rules("9110-10.1.1-5"), arguments: bodies.indices, [200, 401, 413] as [HTTP.Status])
    func `a final response in place of a 100 keeps the body from being sent`(index: Int, status: HTTP.Status)
        async throws
    {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.response(status, body: "no need").beforeBody)
            var options = Self.options()
            options.validatesResponse = false
            let body = Self.bodies[index]()
            let response = try await stage.session.put("up", body: body, options: options, as: .string)
            #expect(response.status == status)
            #expect(response.value == "no need")
            #expect(body.canBeSent, "not even a one-shot body was begun")
            try await stage.server.wait { $0.open == 0 }
            #expect(stage.server.requests.first?.bodyCount == 0)
            try await stage.expectHealthy()
        }
    }

    @Test(.rules("9110-10.1.1-4"), arguments: bodies.indices)
    func `a request refused with 417 is sent again without its expectation`(index: Int) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.response(417).beforeBody)
            stage.server.respond { _ in .response(body: "taken") }
            let response = try await stage.session.put(
                "up", body: Self.bodies[index](), options: Self.options(), as: .string)
            #expect(response.value == "taken")
            #expect(response.metrics.hops.count == 2)
            #expect(stage.server.requests.map { $0.fields["expect"] } == ["100-continue", nil])
            #expect(stage.server.requests.last?.isComplete == true)
        }
    }

    /// What the first answer still brings is nobody's business, and there is no room for a second connection beside it.
    @Test(arguments: bodies.indices)
    func `a request refused with 417 closes its connection before it opens another`(index: Int) async throws {
        try await Stage.with(tolerating: true, configure: { $0.connections.perOrigin = 1 }) {
            (stage: Stage) async throws in
            let refusal: LoopbackServer.Reply = [
                .message(.init(417, fields: ["Content-Length": "1000000"])), .generate(100_000), .stall,
            ]
            stage.server.enqueue(refusal.beforeBody)
            stage.server.respond { _ in .response(body: "taken") }
            let response = try await stage.session.put(
                "up", body: Self.bodies[index](), options: Self.options(), as: .string)
            #expect(response.value == "taken")
            #expect(stage.server.connectionCount == 2)
        }
    }

    /// The first read brings less than the whole head, and the rest of it makes no new edge.
    @Test(.rules("9110-10.1.1-5"), arguments: [[], [100], [103]] as [[HTTP.Status]], [4_000, 4_096, 9_000])
    func `a refusal with a long head keeps the body from being sent`(interim: [HTTP.Status], padding: Int) async throws
    {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            var steps = interim.map { LoopbackServer.Step.interim($0, ["X-Padding": "\(padding)"]) }
            let fields: Fields = ["X-Padding": String(repeating: "x", count: padding), "Content-Length": "6"]
            steps.append(.message(.init(401, fields: fields, body: "no way")))
            let refusal = LoopbackServer.Reply(steps).inOnePiece.then(.stall)
            for index in Self.bodies.indices {
                stage.server.enqueue(refusal.beforeBody)
                var options = Self.options(.seconds(60))
                options.validatesResponse = false
                let (body, start) = (Self.bodies[index](), ContinuousClock.now)
                let response = try await stage.session.put("up", body: body, options: options, as: .string)
                #expect(start.duration(to: .now) < .seconds(50), "it was not seen before the longestWait was over")
                #expect(response.status == 401 && response.value == "no way")
                #expect(body.canBeSent, "not even a one-shot body was begun")
                let sent = try #require(response.metrics.hops.last).bytesSent
                #expect(sent < 1000, "the head alone, in records perhaps")
            }
            try await stage.expectHealthy()
        }
    }

    /// Whoever answers before the request has its last byte has not kept anybody waiting after that.
    @Test(arguments: bodies.indices)
    func `the wait for consent counts once, as sending, if a success comes with it`(index: Int) async throws {
        let (clock, gate, isThere) = (ManualClock(), LoopbackServer.Gate(), LoopbackServer.Gate())
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            let early: LoopbackServer.Reply = [
                .interim(.continue), .message(.init(.ok, fields: ["Content-Length": "5"], body: "early")),
            ]
            stage.server.enqueue(early.inOnePiece.after(.signal(isThere), .waitForSignal(gate)).beforeBody)
            async let answer = stage.session.put(
                "up", body: Self.bodies[index](), options: Self.options(), as: .string)
            try await isThere.opened()
            try await clock.advance(by: .seconds(5))
            gate.open()
            let hop = try #require(try await answer.metrics.hops.last)
            #expect(hop.duration(of: .firstByte) == nil && hop.duration(of: .send) == .seconds(5))
            #expect(hop.total == .seconds(5))
        }
    }

    @Test(arguments: bodies.indices)
    func `the body is sent when a 100 and a success come together`(index: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let fields: Fields = ["Content-Length": "5"]
            let reply: LoopbackServer.Reply = [
                .interim(.continue), .message(.init(.ok, fields: fields, body: "early")),
            ]
            stage.server.enqueue(reply.inOnePiece.beforeBody)
            let response = try await stage.session.put(
                "up", body: Self.bodies[index](), options: Self.options(), as: .string)
            #expect(response.value == "early" && response.interim.map(\.status) == [.continue])
            try await stage.eventually("the request") { stage.server.requests.first?.isComplete == true }
            #expect(stage.server.requests.first?.bodyCount == (index == 0 ? 5 : Self.count))
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test(.rules("9110-10.1.1-1")) func `a request without a body sends no expectation`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            _ = try await stage.session.get("x", options: Self.options(), as: .bytes)
            #expect(stage.server.requests.first?.fields["expect"] == nil)
        }
    }
}
