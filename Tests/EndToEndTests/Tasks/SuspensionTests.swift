import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A request that is suspended` {
    /// Begins to answer, and goes on when the gate is opened.
    private static func pausing(_ length: Int, at gate: LoopbackServer.Gate) -> LoopbackServer.Reply {
        LoopbackServer.Reply.response(fields: ["Content-Length": "\(length)"]).then(
            .send(bytes(0, 1000)), .waitForSignal(gate), .send(bytes(1000, length - 1000)))
    }

    @Test(.rows("SM-103"))
    func `a suspended request reads no more, so the server waits, and goes on where it was`() async throws {
        var small = LoopbackServer.Configuration()
        small.sendBuffer = 64 << 10
        try await Stage.with(server: small) { (stage: Stage) async throws in
            let length = 48 << 20
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(Self.pausing(length, at: gate))
            let task = try stage.session.task("long", as: .bytes)
            task.resume()
            for await step in task.downloadProgress where step.wireBytes > 0 { break }
            task.suspend()
            gate.open()
            try await stage.server.wait { $0.blockedSends > 0 }
            #expect(task.snapshot.state == .suspended)
            #expect(task.downloaded.wireBytes == 1000)
            task.resume()
            let body = try await task.value
            #expect(body.count == length)
            #expect(body[(40 << 20)..<(40 << 20) + 100] == Self.bytes(40 << 20, 100))
        }
    }

    @Test(.rows("SM-103")) func `a suspended request sends no more of its body, and goes on where it was`() async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            let total = 32 << 20
            stage.server.enqueue(.response(body: "taken"))
            let body = RequestBody.stream(UploadPieces(total: total, size: 64 << 10), length: total)
            let task = try stage.session.task("up", method: .post, body: body, as: .string)
            task.resume()
            for await step in task.uploadProgress where step.wireBytes > 0 { break }
            task.suspend()
            var held = task.uploaded
            try await stage.eventually("nothing more is sent") {
                defer { held = task.uploaded }
                return held == task.uploaded
            }
            task.resume()
            #expect(try await task.value == "taken")
            #expect(task.uploaded.wireBytes == total)
            #expect(task.uploaded.fraction == 1)
        }
    }

    /// From the network, and from a cache in memory.
    @Test(arguments: [false, true])
    func `a request that its own hook suspends is given no data before it is resumed`(isCached: Bool) async throws {
        let own = Mutex<HTTPSession.RequestTask<Bytes>?>(nil)
        let given = Atomic(0)
        try await Stage.with { configuration in
            if isCached { configuration.cache = HTTPSession.Cache(.standard) }
        } _: { (stage: Stage) async throws in
            stage.server.respond { _ in .response(fields: ["Cache-Control": "max-age=60"], body: Self.bytes(0, 1000)) }
            if isCached { _ = try await stage.session.get("x", as: .bytes) }
            let suspended = LoopbackServer.Gate()
            var options = HTTPSession.Options()
            options.hooks.response = { _, _ in
                own.withLock { $0 }?.suspend()
                suspended.open()
                return nil
            }
            options.hooks.data = { _, piece in given.add(piece.count, ordering: .relaxed) }
            let task = try stage.session.task("x", options: options, as: .bytes)
            own.withLock { $0 = task }
            defer { own.withLock { $0 = nil } }
            task.resume()
            try await suspended.opened()
            for _ in 0..<20 { _ = try await stage.session.get("other", as: .bytes) }
            #expect(given.load(ordering: .relaxed) == 0)
            task.resume()
            #expect(try await task.value == Self.bytes(0, 1000))
            #expect(given.load(ordering: .relaxed) == 1000)
            #expect(stage.server.requests.count { $0.target == "/x" } == 1)
        }
    }

    @Test func `a suspended request sends no answer to a challenge before it is resumed`() async throws {
        let (clock, answer) = (ManualClock(), HeldAnswer())
        try await Stage.with(clock: clock, configure: { $0.authenticationHandler = answer.handler }) {
            (stage: Stage) async throws in
            stage.server.respond { request in
                request.fields.contains("Authorization")
                    ? .response(body: "in") : .response(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
            }
            let task = try stage.session.task("x", as: .string)
            try await answer.suspend(task, on: stage, clock)
            task.resume()
            #expect(try await task.value == "in")
        }
    }

    @Test(.rows("SM-103"), arguments: [HTTP.Phase.firstByte, .receive])
    func `a suspended request runs into neither the first-byte limit nor the idle limit`(phase: HTTP.Phase) async throws
    {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            $0.timeouts[Timeouts.Limit(phase)] = .seconds(5)
        } _: { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            let whole = LoopbackServer.Reply.response(body: "whole")
            stage.server.enqueue(
                phase == .firstByte
                    ? whole.waiting(for: gate)
                    : .response(fields: ["Content-Length": "5"]).then(
                        .send("wh"), .waitForSignal(gate), .send("ole")))
            let task = try stage.session.task("slow", as: .string)
            task.resume()
            _ = try await stage.server.waitForRequests(1)
            if phase == .receive { try await stage.eventually("it has begun") { task.downloaded.wireBytes == 2 } }
            try await clock.waitForDeadlines(1)
            task.suspend()
            for _ in 0..<3 { try await clock.advance(by: .seconds(60)) }
            #expect(task.resultIfEnded == nil)
            task.resume()
            gate.open()
            #expect(try await task.value == "whole")
        }
    }

    @Test(.rows("SM-103")) func `a suspended request does not run into the send limit`() async throws {
        let clock = ManualClock()
        var server = LoopbackServer.Configuration()
        server.receiveBuffer = 16 << 10
        try await Stage.with(server: server, clock: clock) {
            $0.timeouts.send = .seconds(5)
        } _: { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "taken").waiting(for: gate).beforeBody)
            let body = RequestBody.bytes(Bytes([UInt8](repeating: 1, count: 32 << 20)))
            let task = try stage.session.task("up", method: .post, body: body, as: .string)
            task.resume()
            _ = try await stage.server.waitForRequests(1)
            try await clock.waitForDeadlines(1)
            task.suspend()
            for _ in 0..<3 { try await clock.advance(by: .seconds(60)) }
            #expect(task.resultIfEnded == nil)
            task.resume()
            gate.open()
            #expect(try await task.value == "taken")
        }
    }

    @Test(.rows("SM-103")) func `a resumed request has what is left of its limit`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) {
            $0.timeouts.firstByte = .seconds(10)
        } _: { (stage: Stage) async throws in
            stage.server.enqueue([.stall])
            let task = try stage.session.task("stalls", as: .string)
            task.resume()
            _ = try await stage.server.waitForRequests(1)
            try await clock.waitForDeadlines(1)
            try await clock.advance(by: .seconds(6))
            task.suspend()
            try await clock.advance(by: .seconds(60))
            task.resume()
            try await clock.advance(by: .seconds(3))
            #expect(task.resultIfEnded == nil)
            for _ in 0..<10 where task.resultIfEnded == nil { try await clock.advance(by: .seconds(1)) }
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .timedOut)
            #expect(error.phase == .firstByte)
        }
    }

    @Test(.rows("SM-103")) func `a suspended request runs into its total limit all the same`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) {
            $0.timeouts.total = .seconds(5)
        } _: { (stage: Stage) async throws in
            stage.server.enqueue([.stall])
            let task = try stage.session.task("stalls", as: .string)
            task.resume()
            _ = try await stage.server.waitForRequests(1)
            task.suspend()
            for _ in 0..<20 where task.resultIfEnded == nil { try await clock.advance(by: .seconds(6)) }
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .timedOut)
            #expect(error.phase == .firstByte)
            #expect(error.exceeded == .total)
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: [false, true]) func `a suspended request can be cancelled`(whileReading: Bool) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(whileReading ? Self.pausing(2000, at: LoopbackServer.Gate()) : [.stall])
            let task = try stage.session.task("held", as: .bytes)
            task.resume()
            _ = try await stage.server.waitForRequests(1)
            if whileReading { for await step in task.downloadProgress where step.wireBytes > 0 { break } }
            task.suspend()
            task.cancel()
            #expect(try await NetworkError.thrown { _ = try await task.value }.code == .cancelled)
            try await stage.expectHealthy()
        }
    }

    private static func bytes(_ offset: Int, _ count: Int) -> Bytes {
        LoopbackServer.GeneratedBody.bytes(offset..<offset + count)
    }
}
