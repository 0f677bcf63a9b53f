import Dunlin
import DunlinTesting
import Folders
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Requests tried again` {
    private static func with(
        _ clock: ManualClock, policy: HTTPSession.RetryPolicy = .constant(attempts: 3, every: .seconds(1)),
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }, _ play: (Stage) async throws -> Void
    ) async throws {
        try await Stage.with(
            clock: clock, tolerating: true,
            configure: {
                $0.retry = policy
                configure(&$0)
            }, play)
    }

    /// The connection of the refusal serves the next attempt.
    @Test(.rules("9110-10.2.3-2", "9110-15.6.4-1"))
    func `a retry waits at least as long as the server asks, and uses the same connection`() async throws {
        let clock = ManualClock()
        try await Self.with(clock) { (stage: Stage) async throws in
            stage.server.enqueue(
                .response(503, fields: ["Retry-After": "2"], body: Bytes(Array(repeating: 65, count: 30_000))),
                .response(body: "fit"))
            let start = clock.now
            let response = try await clock.skippingWaits { try await stage.session.get("x", as: .string) }
            #expect(response.value == "fit" && response.retries.map(\.wait) == [.seconds(3)])
            #expect(start.duration(to: clock.now) == .seconds(3))
            #expect(response.metrics.hops.count == 2 && response.retries[0].lastHop?.bodyBytes == 30_000)
            #expect(stage.server.connectionCount == 1 && stage.session.connections.open == 1)
        }
    }

    /// A reply that is cut, and what is left of it then.
    @Test(arguments: [0, 12, 40, 90])
    func `a request is tried again after a response that breaks anywhere`(count: Int) async throws {
        let clock = ManualClock()
        try await Self.with(clock) { (stage: Stage) async throws in
            let reply = LoopbackServer.Reply.response(body: Bytes(Array(repeating: 65, count: 100)))
            stage.server.enqueue(reply.resetAfter(count), reply.truncatedAfter(count), reply)
            let response = try await clock.skippingWaits { try await stage.session.get("x", as: .string) }
            #expect(response.value == String(repeating: "A", count: 100) && response.retries.count == 2)
            #expect(response.retries.allSatisfy { $0.lastHop != nil })
            #expect(stage.server.requests.count == 3)
        }
    }

    @Test(.rules("9110-9.2.2-1")) func `a request that might do its work twice is not tried again`() async throws {
        let clock = ManualClock()
        try await Self.with(clock) { (stage: Stage) async throws in
            stage.server.enqueue(LoopbackServer.Reply.response(body: "a").resetAfter(0))
            stage.server.respond { _ in .response(503) }
            for (code, status) in [(NetworkError.Code.connectionClosed, nil), (.unacceptableStatus, 503)]
                as [(NetworkError.Code, HTTP.Status?)]
            {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.post("x", body: .string("a"), as: .bytes)
                }
                #expect(error.code == code && error.retryRefusal == .notSafe && error.response?.status == status)
            }
            #expect(stage.server.requests.count == 2)
        }
    }

    @Test(arguments: [true, false])
    func `a retry sends the body whole again, and is refused if the body is not replayable`(isReplayable: Bool)
        async throws
    {
        let (clock, count) = (ManualClock(), 300_000)
        try await Self.with(clock) { (stage: Stage) async throws in
            stage.server.enqueue(.response(503))
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            let body: RequestBody =
                isReplayable ? .replayable { UploadPieces(total: count) } : .stream(UploadPieces(total: count))
            if isReplayable {
                let answer = try await clock.skippingWaits {
                    try await stage.session.put("up", body: body, as: .string)
                }
                #expect(answer.value == "\(LoopbackServer.GeneratedBody.hash(length: count))")
            } else {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.put("up", body: body, as: .bytes)
                }
                #expect(error.response?.status == 503 && error.retryRefusal == .bodyNotReplayable)
            }
        }
    }

    /// The server refuses instead of asking for the body.
    @Test(arguments: [503, 429] as [HTTP.Status], [HTTP.Method.put, .post])
    func `a body that can be sent once and was not asked for is sent by the next attempt, if that is safe`(
        status: HTTP.Status, method: HTTP.Method
    ) async throws {
        let (clock, count) = (ManualClock(), 300_000)
        try await Self.with(clock) { (stage: Stage) async throws in
            stage.server.enqueue(LoopbackServer.Reply.response(status).beforeBody)
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            let body = RequestBody.stream(UploadPieces(total: count), length: count)
            var options = HTTPSession.Options()
            (options.expectsContinue, options.continueTimeout) = (true, .seconds(600))
            let mayRepeat = method == .put || status == 429
            if mayRepeat {
                let answer = try await clock.skippingWaits { [options] in
                    try await stage.session.request("up", method: method, body: body, options: options, as: .string)
                }
                #expect(answer.value == "\(LoopbackServer.GeneratedBody.hash(length: count))")
            } else {
                let error = try await NetworkError.thrown { [options] in
                    _ = try await stage.session.request("up", method: method, body: body, options: options, as: .bytes)
                }
                #expect(error.response?.status == status && error.retryRefusal != .bodyNotReplayable)
            }
            #expect(stage.server.requests.map(\.bodyCount) == (mayRepeat ? [0, count] : [0]))
        }
    }

    /// The server answers as soon as it has the head, and wants no more on this connection. It reads on until that is
    /// closed, so that nothing is lost to a reset.
    @Test func `a body refused before it was sent is cut off, and sent whole by the next attempt`() async throws {
        let (clock, count) = (ManualClock(), 8_000_000)
        try await Self.with(clock) { (stage: Stage) async throws in
            let refusal = LoopbackServer.Reply.response(503, fields: ["Connection": "close"])
            stage.server.enqueue(refusal.then(.drain).beforeBody)
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            let answer = try await clock.skippingWaits {
                try await stage.session.put("up", body: .replayable { UploadPieces(total: count) }, as: .string)
            }
            #expect(answer.value == "\(LoopbackServer.GeneratedBody.hash(length: count))")
            #expect(stage.server.connectionCount == 2 && stage.session.connections.open == 1)
        }
    }

    /// What is left of a short body is read, so that the connection serves others meanwhile; a long one costs more.
    @Test(arguments: [(30_000, 1), (1 << 20, 0)])
    func `a request that waits to be tried again keeps no connection`(length: Int, idle: Int) async throws {
        let clock = ManualClock()
        try await Self.with(clock) { (stage: Stage) async throws in
            stage.server.enqueue(.generated(length: length, status: 503), .response(body: "fit"))
            async let answer = stage.session.get("x", as: .string)
            try await clock.waitForRetries()
            #expect(stage.session.connections.open == idle && stage.session.connections.idle == idle)
            try await clock.advance(by: .seconds(1))
            #expect(try await answer.value == "fit")
        }
    }

    /// Each phase has its limit anew.
    @Test func `each attempt has the limit of a phase anew`() async throws {
        let clock = ManualClock()
        try await Self.with(
            clock,
            configure: {
                $0.timeouts = .none
                $0.timeouts.firstByte = .seconds(5)
            }
        ) { (stage: Stage) async throws in
            stage.server.enqueue([.stall], [.stall], .response(body: "fit"))
            async let response = stage.session.get("x", as: .string)
            for _ in 0..<2 {
                _ = try await stage.server.nextRequest()
                try await clock.waitForDeadlines()
                try await clock.advance(by: .seconds(5))
                try await clock.waitForRetries()
                try await clock.advance(by: .seconds(1))
            }
            let (value, retries) = (try await response.value, try await response.retries)
            #expect(
                value == "fit" && retries.map(\.cause) == Array(repeating: .failure(.timedOut, .firstByte), count: 2))
        }
    }

    /// Waits cut short leave nothing behind, which the stage sees to.
    @Test(arguments: [true, false])
    func `a request that waits to be tried again ends when it is cancelled`(isTask: Bool) async throws {
        let clock = ManualClock()
        try await Self.with(clock) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(503, fields: ["Retry-After": "50"]) }
            let asking = (0..<8).map { _ in Task { try await stage.session.get("x", as: .bytes) } }
            try await clock.waitForRetries(8)
            #expect(await stage.session.tasks.all.allSatisfy { $0.state == .waitingToRetry(hop: 1) })
            if isTask { for task in asking { task.cancel() } } else { await stage.session.tasks.cancelAll() }
            for task in asking {
                switch await task.result {
                case .success: Issue.record("was cancelled")
                case .failure(let error): #expect((error is CancellationError) == isTask)
                }
            }
            #expect(await stage.session.tasks.count == 0 && stage.server.requests.count == 8)
            try await stage.expectHealthy()
        }
    }

    @Test func `a download is tried again until it brings its file`() async throws {
        let clock = ManualClock()
        try await Self.with(clock) { (stage: Stage) async throws in
            let folder = try Folder()
            stage.server.enqueue(.response(503), LoopbackServer.Reply.response(body: "a").resetAfter(5))
            stage.server.respond { _ in .response(body: "whole") }
            let file = try await clock.skippingWaits {
                try await stage.session.download("x", to: .file("\(folder.path)/file"))
            }
            #expect(file.value.byteCount == 5 && file.retries.count == 2)
        }
    }
}
