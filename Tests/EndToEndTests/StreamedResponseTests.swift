import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// A response that leaves the function that asked for it, and is read by somebody else.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A response that is handed on` {
    private static func text(_ body: BodySequence) async throws -> Int {
        var count = 0
        for try await piece in body { count += piece.count }
        return count
    }

    private static func serve(_ stage: Stage, status: HTTP.Status = .ok, then steps: LoopbackServer.Step...) {
        let head = LoopbackServer.Step.message(.init(status, fields: ["Content-Length": "300000"]))
        stage.server.respond { _ in .init([head] + steps) }
    }

    /// The way a handler answers: status and fields first, and a body that it does not wait for.
    private static func answer(_ stage: Stage) async throws -> (HTTP.Status, BodySequence) {
        let response = try await stage.session.stream("file")
        return (response.status, response.body)
    }

    private static func waitUntilOver(_ stage: Stage) async throws {
        try await stage.eventually("the request is over") { await stage.session.tasks.count == 0 }
    }

    @Test(arguments: [200, 404] as [HTTP.Status])
    func `a response handed on is read to its end elsewhere, and its connection is used again`(
        status: HTTP.Status
    ) async throws {
        try await Stage.with { (stage: Stage) async throws in
            Self.serve(stage, status: status, then: .generated(0..<300_000))
            for _ in 0..<3 {
                let (seen, body) = try await Self.answer(stage)
                #expect(seen == status)
                #expect(await stage.session.tasks.count == 1, "it runs as long as it is read")
                let reading = Task.detached { try await Self.text(body) }
                #expect(try await reading.value == 300_000)
                try await Self.waitUntilOver(stage)
            }
            #expect(stage.session.connections.opened == 1)
        }
    }

    @Test(arguments: [HTTP.Method.get, .head])
    func `a response that came whole with its head is over, and can still be read`(
        method: HTTP.Method
    ) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "hello") }
            let response = try await stage.session.stream("file", method: method)
            try await Self.waitUntilOver(stage)
            #expect(try await Self.text(response.body) == (method == .head ? 0 : 5))
            let error = try await NetworkError.thrown { _ = try await Self.text(response.body) }
            #expect(error.code == .bodyConsumed)
        }
    }

    @Test func `a response that breaks while it is read fails its request too`() async throws {
        let told = Mutex<[NetworkError.Code?]>([])
        try await Stage.with(tolerating: true) { configuration in
            configuration.hooks.completed = { completion in
                told.withLock { $0.append((completion.error as? NetworkError)?.code) }
            }
        } _: { (stage: Stage) async throws in
            Self.serve(stage, then: .generated(0..<100_000), .reset)
            let (_, body) = try await Self.answer(stage)
            let error = try await NetworkError.thrown { _ = try await Self.text(body) }
            #expect(error.code == .connectionClosed)
            try await Self.waitUntilOver(stage)
            #expect(told.withLock { $0 } == [.connectionClosed])
            withExtendedLifetime(body) {}
        }
    }

    @Test func `a hook of a streamed response can wait for all other requests to end`() async throws {
        let box = Mutex<HTTPSession?>(nil)
        try await Stage.with { configuration in
            configuration.hooks.data = { _, _ in
                let session = box.withLock { $0 }
                try? await session?.tasks.waitUntilEmpty()
            }
        } _: { (stage: Stage) async throws in
            Self.serve(stage, then: .generated(0..<300_000))
            box.withLock { $0 = stage.session }
            #expect(try await Self.text(Self.answer(stage).1) == 300_000)
            box.withLock { $0 = nil }
        }
    }

    @Test func `a dropped response leaves its place in the pool to a request from its end hook`() async throws {
        let box = Mutex<HTTPSession?>(nil)
        let seen = Mutex<[HTTP.Status]>([])
        try await Stage.with(tolerating: true) { configuration in
            configuration.connections.perOrigin = 1
            configuration.hooks.completed = { completion in
                guard completion.task.kind == .stream, let session = box.withLock({ $0 }) else { return }
                let response = try? await session.get("other", as: .bytes)
                seen.withLock { $0 += [response?.status].compactMap(\.self) }
            }
        } _: { (stage: Stage) async throws in
            Self.serve(stage, then: .generated(0..<100_000), .stall)
            stage.server.route(.get, "/other", .response(body: "fit"))
            box.withLock { $0 = stage.session }
            _ = try await Self.answer(stage)
            try await Self.waitUntilOver(stage)
            box.withLock { $0 = nil }
            #expect(seen.withLock { $0 } == [.ok])
        }
    }

    @Test func `a response ends when it is dropped, unread or half read`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.serve(stage, then: .generated(0..<100_000), .stall)
            for reads in [0, 1] {
                try await Task.detached {
                    let (_, body) = try await Self.answer(stage)
                    var pieces = body.makeAsyncIterator()
                    for _ in 0..<reads { _ = try await pieces.next() }
                }.value
                try await Self.waitUntilOver(stage)
                try await stage.eventually("its connection is closed") { stage.session.connections.open == 0 }
            }
        }
    }

    @Test func `a response stays open as long as an iterator of its body is left`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            Self.serve(stage, then: .generated(0..<300_000))
            var pieces = try await Self.answer(stage).1.makeAsyncIterator()
            var count = 0
            while let piece = try await pieces.next() { count += piece.count }
            #expect(count == 300_000)
            try await Self.waitUntilOver(stage)
        }
    }

    @Test func `a response ends when its request is cancelled, whether it is being read or not`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.serve(stage, then: .generated(0..<100_000), .stall)
            for isReading in [false, true] {
                let (_, body) = try await Self.answer(stage)
                let reading = isReading ? Task { try await Self.text(body) } : nil
                #expect(await stage.session.tasks.cancelAll() == 1)
                let error = try await NetworkError.thrown {
                    if let reading { _ = try await reading.value } else { _ = try await Self.text(body) }
                }
                #expect(error.code == .cancelled)
            }
        }
    }

    @Test func `a streamed request can be cancelled while its head is awaited`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in [.stall] }
            let asking = Task { _ = try await stage.session.stream("file") }
            try await stage.eventually("it has been sent") { stage.server.requests.count == 1 }
            asking.cancel()
            await #expect(throws: CancellationError.self) { try await asking.value }
            try await Self.waitUntilOver(stage)
        }
    }

    @Test func `a response that nobody reads ends at its total limit`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { configuration in
            configuration.timeouts.total = .seconds(30)
        } _: { (stage: Stage) async throws in
            Self.serve(stage, then: .generated(0..<100_000), .stall)
            let (_, body) = try await Self.answer(stage)
            try await clock.advance(by: .seconds(1), until: "the request is over") {
                await stage.session.tasks.count == 0
            }
            #expect(stage.session.connections.open == 0, "nobody holds a connection for what nobody reads")
            let error = try await NetworkError.thrown { _ = try await Self.text(body) }
            #expect(error.code == .timedOut && error.phase == .receive && error.exceeded == .total)
        }
    }

    @Test func `a stream that is over gives up its connection, whatever was put around its body`() async throws {
        try await Stage.with(tolerating: true) { configuration in
            configuration.interceptors = [.call { request, next in try await next(request) }]
            configuration.hooks.data = { _, _ in }
        } _: { (stage: Stage) async throws in
            stage.server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .stall])
            let response = try await stage.session.stream("a")
            await stage.session.tasks.cancelAll()
            #expect(stage.session.connections.open == 0)
            withExtendedLifetime(response) {}
        }
    }

    @Test func `the end of a streamed response is told once, when it is over`() async throws {
        let told = Mutex<[Int?]>([])
        try await Stage.with { configuration in
            configuration.hooks.completed = { completion in
                told.withLock { $0.append(completion.metrics.hops.last?.bodyBytes) }
            }
        } _: { (stage: Stage) async throws in
            Self.serve(stage, then: .generated(0..<300_000))
            let (_, body) = try await Self.answer(stage)
            #expect(told.withLock { $0.isEmpty })
            _ = try await Self.text(body)
            try await Self.waitUntilOver(stage)
            #expect(told.withLock { $0 } == [300_000])
        }
    }
}
