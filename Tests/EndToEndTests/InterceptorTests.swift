import Dunlin
import DunlinTesting
import Folders
import Synchronization
import Testing

private struct Unwanted: Error {}

/// Interceptors over sockets: what they do to connections, streams and files.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Interceptors over the network` {
    private typealias Intercept = HTTPSession.Interception.Intercept
    private typealias Scope = @Sendable (@escaping Intercept) -> HTTPSession.Interception

    private static let scopes: [Scope] = [{ .call($0) }, { .exchange($0) }]

    /// What an interceptor does with a response of 100,000 bytes before it has another.
    private static let habits: [(name: String, intercept: Intercept, fails: Bool)] = [
        (
            "drops",
            { request, next in
                _ = try await next(request)
                return TransportResponse(head: ResponseHead(status: 200), body: .bytes("own"))
            }, false
        ),
        (
            "drops and sends again", HTTPSession.Interception.sendingTwice, false
        ),
        (
            "keeps and sends again",
            { request, next in
                let first = try await next(request)
                let second = try await next(request)
                return withExtendedLifetime(first) { second }
            }, false
        ),
        (
            "reads a part and sends again",
            { request, next in
                let first = try await next(request)
                if case .stream(let stream) = first.body { _ = try await stream.next() }
                return try await next(request)
            }, false
        ),
        (
            "throws",
            { request, next in
                _ = try await next(request)
                throw Unwanted()
            }, true
        ),
        ("never calls on", { _, _ in TransportResponse(head: ResponseHead(status: 204)) }, false),
        ("collects", { request, next in try await next(request).collected(upTo: 100_000) }, false),
        ("collects too little", { request, next in try await next(request).collected(upTo: 10) }, true),
    ]

    /// The one connection there may be is free afterwards, whatever was done.
    @Test(arguments: habits.indices) func `no connection is lost, whatever an interceptor does`(
        index: Int
    ) async throws {
        let (_, intercept, fails) = Self.habits[index]
        for scope in Self.scopes {
            let isOn = Atomic(true)
            try await Stage.with(tolerating: true) { configuration in
                configuration.connections.perOrigin = 1
                configuration.interceptors = [
                    scope { request, next in
                        isOn.load(ordering: .relaxed) ? try await intercept(request, next) : try await next(request)
                    }
                ]
            } _: { (stage: Stage) async throws in
                stage.server.respond { _ in
                    .init([.message(.init(200, fields: ["Content-Length": "100000"])), .generated(0..<100_000)])
                }
                for _ in 0..<3 {
                    var hasFailed = false
                    do { _ = try await stage.session.get("x", as: .bytes) } catch { hasFailed = true }
                    #expect(hasFailed == fails)
                    hasFailed = false
                    do {
                        let response = try await stage.session.stream("x")
                        for try await _ in response.body {}
                    } catch { hasFailed = true }
                    #expect(hasFailed == fails)
                }
                isOn.store(false, ordering: .relaxed)
                #expect(try await stage.session.get("x", as: .bytes).value.count == 100_000)
                try await stage.expectHealthy()
            }
        }
    }

    @Test func `each response that was sent for is in the metrics`() async throws {
        for scope in Self.scopes {
            try await Stage.with { configuration in
                configuration.interceptors = [
                    scope { request, next in
                        let first = try await next(request)
                        return first.head.status == 503 ? try await next(request) : first
                    }
                ]
            } _: { (stage: Stage) async throws in
                let count = Atomic(0)
                stage.server.respond { _ in
                    count.add(1, ordering: .relaxed).oldValue == 0
                        ? .response(503, body: "later") : .response(body: "x")
                }
                let response = try await stage.session.get("x", as: .string)
                #expect(response.value == "x" && response.metrics.hops.count == 2)
                #expect(stage.session.connections.opened == 1, "what is left of a short body is read")
            }
        }
    }

    private static func made(_ body: TransportResponse.Body) -> TransportResponse {
        TransportResponse(head: ResponseHead(status: .ok), body: body)
    }

    /// Whole and streamed, of a request to `target`.
    private static func hopCounts(_ stage: Stage, _ target: String) async throws -> [Int] {
        let whole = try await stage.session.get(.init(target), as: .string)
        let streamed = try await stage.session.stream(.init(target))
        for try await _ in streamed.body {}
        return [whole.metrics.hops.count, streamed.metrics.hops.count]
    }

    @Test func `what an interceptor answers by itself has no hop, and what was sent before it has its own`()
        async throws
    {
        for scope in Self.scopes {
            try await Stage.with { configuration in
                configuration.interceptors = [
                    scope { request, next in
                        if request.head.target == "/own" { return Self.made(.bytes("own")) }
                        let response = try await next(request)
                        guard request.head.target == "/replaced" else { return response }
                        return Self.made(.stream(Unmeasured()))
                    }
                ]
            } _: { (stage: Stage) async throws in
                stage.server.route(.get, "/away", .response(302, fields: ["Location": "/own"]))
                stage.server.route(.get, "/replaced", .response(body: "x"))
                stage.server.route(.get, "/own", .response(body: "x"))
                #expect(try await Self.hopCounts(stage, "own") == [0, 0])
                #expect(try await Self.hopCounts(stage, "replaced") == [1, 1])
                // Around the call an interceptor sees no redirect, and the server answers.
                let isSent = stage.server.requests.contains { $0.target == "/own" }
                #expect(!isSent)
                let counts = try await Self.hopCounts(stage, "away")
                let count = stage.server.requests.contains { $0.target == "/own" } ? 2 : 1
                #expect(counts == [count, count])
            }
        }
    }

    /// A body of somebody who knows nothing of exchanges.
    private final class Unmeasured: TransportResponse.BodyStream {
        private let isRead = Atomic(false)

        func next() async throws -> Bytes? { isRead.exchange(true, ordering: .relaxed) ? nil : "made" }
        var expectedLength: Int? { nil }
        var trailers: Fields { Fields() }
        var hop: HTTP.Hop { HTTP.Hop() }
    }

    @Test func `a stream stays a stream`() async throws {
        for scope in Self.scopes {
            try await Stage.with {
                $0.interceptors = [scope { request, next in try await next(request) }]
            } _: { (stage: Stage) async throws in
                let gate = LoopbackServer.Gate()
                stage.server.respond { _ in
                    .init([
                        .message(.init(200, fields: ["Content-Length": "10"])), .send("first"), .waitForSignal(gate),
                        .send("later"),
                    ])
                }
                let response = try await stage.session.stream("x")
                var pieces = response.body.makeAsyncIterator()
                #expect(try await pieces.next() == "first")
                gate.open()
                #expect(try await pieces.next() == "later")
                #expect(try await pieces.next() == nil)
            }
        }
    }

    @Test func `a file stays a file, and a download goes through`() async throws {
        let (folder, seen) = (try Folder(), Journal())
        for (index, scope) in Self.scopes.enumerated() {
            try await Stage.with {
                $0.interceptors = [
                    scope { request, next in
                        if case .file(let file) = request.body.content { seen.note(file.path) }
                        return try await next(request) { $0.head.fields["X-Seen"] = "1" }
                    }
                ]
            } _: { (stage: Stage) async throws in
                stage.server.respond { request in
                    request.fields["X-Seen"] == "1"
                        ? .response(body: Bytes(Array(repeating: 7, count: 300_000))) : .response(400)
                }
                let path = try folder.write("content", as: "up")
                try await stage.session.post("x", body: .file(path))
                let file = try await stage.session.download("x", to: .file("\(folder.path)/down\(index)")).value
                #expect(file.byteCount == 300_000)
                #expect(seen.all == Array(repeating: path, count: index + 1))
            }
        }
    }

    @Test func `a body may be replaced by one of any kind`() async throws {
        let pieces = AsyncStream<Bytes> { stream in
            for piece in ["he", "llo"] as [Bytes] { stream.yield(piece) }
            stream.finish()
        }
        for (scope, body) in zip(Self.scopes, [RequestBody.stream(pieces), .string("hello")]) {
            try await Stage.with { configuration in
                configuration.interceptors = [
                    scope { request, next in try await next(request) { $0.body = body } }
                ]
            } _: { (stage: Stage) async throws in
                stage.server.respond { .response(body: $0.body) }
                #expect(try await stage.session.post("x", body: .string("other"), as: .string).value == "hello")
            }
        }
    }

    @Test func `a body that can be sent once is not sent twice`() async throws {
        for scope in Self.scopes {
            try await Stage.with(tolerating: true) { configuration in
                configuration.interceptors = [scope(HTTPSession.Interception.sendingTwice)]
            } _: { (stage: Stage) async throws in
                stage.server.respond { _ in .response(body: "x") }
                let error = try await NetworkError.thrown { try await stage.session.post("x", body: .once) }
                #expect(error.code == .bodyNotReplayable)
                #expect(stage.server.requests.map(\.body) == ["hello"])
            }
        }
    }

    @Test func `cancelling ends an interceptor that waits for its response, and one that reads`() async throws {
        for scope in Self.scopes {
            try await Stage.with(tolerating: true) { configuration in
                configuration.interceptors = [scope { request, next in try await next(request).collected(upTo: 1000) }]
            } _: { (stage: Stage) async throws in
                stage.server.route(.get, "/silent", .init([.stall]))
                stage.server.route(
                    .get, "/half",
                    .init([.message(.init(200, fields: ["Content-Length": "10"])), .send("half"), .stall]))
                for target in ["silent", "half"] as [HTTP.Target] {
                    let task = try stage.session.task(target, as: .bytes)
                    task.resume()
                    _ = try await stage.server.waitForRequests(target == "silent" ? 1 : 2)
                    task.cancel()
                    #expect(try await NetworkError.thrown { _ = try await task.value }.code == .cancelled)
                    let waiting = Task { try await stage.session.get(target) }
                    waiting.cancel()
                    await #expect(throws: CancellationError.self) { try await waiting.value }
                }
            }
        }
    }

    @Test func `cancelling next ends what it sends, and the call goes on`() async throws {
        for scope in Self.scopes {
            try await Stage.with(tolerating: true) { configuration in
                configuration.interceptors = [
                    scope { request, next in
                        if request.head.path != "/silent" { return try await next(request) }
                        let first = Task { try await next(request) }
                        first.cancel()
                        await #expect(throws: CancellationError.self) { _ = try await first.value }
                        return try await next(request) { $0.head.target = "/other" }
                    }
                ]
            } _: { (stage: Stage) async throws in
                stage.server.route(.get, "/silent", .init([.stall]))
                stage.server.route(.get, "/other", .response(body: "x"))
                #expect(try await stage.session.get("silent", as: .string).value == "x")
                try await stage.expectHealthy()
            }
        }
    }

    /// The end of the first response must not take the second one's cancellation with it.
    @Test func `a cancel ends the second response of an interceptor as it ends the first`() async throws {
        for scope in Self.scopes {
            try await Stage.with(tolerating: true) { configuration in
                configuration.interceptors = [
                    scope { request, next in
                        var response = try await next(request)
                        if response.head.status == 503 { response = try await next(request) }
                        return response
                    }
                ]
            } _: { (stage: Stage) async throws in
                let count = Atomic(0)
                stage.server.respond { _ in
                    let isFirst = count.add(1, ordering: .relaxed).oldValue == 0
                    return .init([
                        .message(.init(isFirst ? 503 : 200, fields: ["Content-Length": "100000"])),
                        .generated(0..<1000), .stall,
                    ])
                }
                let response = try await stage.session.stream("x")
                let reading = Task { for try await _ in response.body {} }
                try await stage.eventually("it is read") { count.load(ordering: .relaxed) == 2 }
                await stage.session.tasks.cancelAll()
                #expect(try await NetworkError.thrown { try await reading.value }.code == .cancelled)
            }
        }
    }

    @Test func `a response dropped by an interceptor frees its connection at once`() async throws {
        for scope in Self.scopes {
            try await Stage.with(tolerating: true) { configuration in
                configuration.connections.perOrigin = 1
                configuration.interceptors = [
                    scope { request, next in
                        if request.head.path == "/token" { return try await next(request) }
                        if try await next(request).head.status == 200 { try await next.session?.get("token") }
                        return try await next(request)
                    }
                ]
            } _: { (stage: Stage) async throws in
                stage.server.respond { request in
                    request.target == "/token"
                        ? .response(body: "t")
                        : .init([.message(.init(200, fields: ["Content-Length": "100000"])), .generated(0..<100_000)])
                }
                #expect(try await stage.session.get("x", as: .bytes).value.count == 100_000)
            }
        }
    }

    @Test func `a body that an interceptor changed is not put together from parts`() async throws {
        let folder = try Folder()
        for (index, scope) in Self.scopes.enumerated() {
            try await Stage.with(tolerating: true) { configuration in
                configuration.interceptors = [
                    scope { request, next in
                        try await next(request).with { changes in
                            if case .stream(let stream) = changes.body { changes.body = .stream(Doubled(stream)) }
                        }
                    }
                ]
            } _: { (stage: Stage) async throws in
                let asked = Atomic(0)
                stage.server.respond { request in
                    asked.add(request.fields.contains("range") ? 100 : 1, ordering: .relaxed)
                    let head = LoopbackServer.Step.message(
                        .init(200, fields: ["Content-Length": "300000", "ETag": "\"a\"", "Accept-Ranges": "bytes"]))
                    return .init([head, .generated(0..<100_000), .reset])
                }
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.download("x", to: .file("\(folder.path)/changed\(index)"))
                }
                #expect(error.code == .connectionClosed)
                #expect(asked.load(ordering: .relaxed) < 100, "no range is asked for")
            }
        }
    }

    /// Every piece twice.
    private final class Doubled: TransportResponse.BodyStream {
        let inner: any TransportResponse.BodyStream

        init(_ inner: any TransportResponse.BodyStream) {
            self.inner = inner
        }

        func next() async throws -> Bytes? { try await inner.next().map { Bytes($0.array + $0.array) } }
        var expectedLength: Int? { nil }
        var trailers: Fields { inner.trailers }
        var hop: HTTP.Hop { inner.hop }
    }

    @Test func `a wrapped transport has the session's own beneath it`() async throws {
        let seen = Journal()
        try await Stage.with {
            $0.interceptors = [.transport { Recorder(inner: $0, journal: seen) }]
        } _: { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            for _ in 0..<3 {
                let response = try await stage.session.get("x", as: .string)
                #expect(response.value == "x" && response.metrics.hops.count == 1)
            }
            #expect(seen.all == ["/x", "/x", "/x"])
            #expect(stage.session.connections.opened == 1)
        }
    }

    private struct Recorder: Transport {
        let inner: any Transport
        let journal: Journal

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            journal.note(request.head.target)
            return try await inner.exchange(request)
        }
    }

    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }
}
