import Dunlin
import DunlinTesting
import Folders
import Mocking
import Synchronization
import Testing

/// Writes down what passes.
private final class Journal: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func note(_ line: String) { lines.withLock { $0.append(line) } }

    /// Notes each request and its answer.
    func interceptor(_ name: String) -> HTTPSession.Interception.Intercept {
        { request, next in
            self.note("\(name) > \(request.head.path)")
            let response = try await next(request)
            self.note("\(name) < \(response.head.status.code)")
            return response
        }
    }
}

private struct OutOfOrder: Error, Equatable {}

@Suite(.timeLimit(.minutes(10))) struct `A session with interceptors` {
    private static func adding(_ name: String, _ value: String) -> HTTPSession.Interception.Intercept {
        { request, next in try await next(request) { $0.head.fields[name] = value } }
    }

    private typealias Scope = @Sendable (@escaping HTTPSession.Interception.Intercept) -> HTTPSession.Interception

    private static let scopes: [Scope] = [{ .call($0) }, { .exchange($0) }]

    private static func mocked(
        _ interceptions: HTTPSession.Interception..., change: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> Mocked {
        try Mocked {
            $0.interceptors = interceptions
            change(&$0)
        }
    }

    private static let request = TransportRequest(
        head: RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "api.test"), target: "/a"))

    @Test func `the first is the outermost, and calls are around exchanges`() async throws {
        let journal = Journal()
        let mock = try Self.mocked(
            .exchange(journal.interceptor("exchange 1")), .call(journal.interceptor("call 1")),
            .exchange(journal.interceptor("exchange 2")), .call(journal.interceptor("call 2")))
        mock.transport.on(.get, "/a").respond(302, fields: ["Location": "/b"])
        mock.transport.on(.get, "/b").respond(body: "x")
        #expect(try await mock.session.get("a", as: .string).value == "x")
        #expect(
            journal.all == [
                "call 1 > /a", "call 2 > /a",
                "exchange 1 > /a", "exchange 2 > /a", "exchange 2 < 302", "exchange 1 < 302",
                "exchange 1 > /b", "exchange 2 > /b", "exchange 2 < 200", "exchange 1 < 200",
                "call 2 < 200", "call 1 < 200",
            ])
    }

    @Test func `a call sees its retries as one, also those of a body that breaks off`() async throws {
        let journal = Journal()
        let hops = Mutex<[Int]>([])
        let mock = try Self.mocked(
            .call(journal.interceptor("call")),
            .exchange { request, next in
                hops.withLock { $0.append(next.hop) }
                return try await next(request)
            }
        ) { $0.retry = .exponential(attempts: 4, base: .zero) }
        let route = mock.transport.on(.get, "/a")
        route.respond(503)
        route.fail(.connectionReset)
        let length: Fields = ["Content-Length": "9"]
        route.reply(
            .stream(fields: length) {
                $0 == 0 ? "half" : try { throw NetworkError(.connectionClosed, "gone", isSafeToRetry: true) }()
            })
        route.respond(body: "all of it")
        #expect(try await mock.session.get("a", as: .string).value == "all of it")
        #expect(journal.all == ["call > /a", "call < 200"])
        #expect(hops.withLock { $0 } == [1, 2, 3, 4])
    }

    @Test func `an exchange has the fields that other stages add, and its own are sent`() async throws {
        let seen = Mutex<[[String?]]>([])
        let mock = try Self.mocked(
            .exchange { request, next in
                seen.withLock { $0.append([request.head.fields["Cookie"], request.head.fields["Authorization"]]) }
                return try await next(request) { $0.head.fields["X-Trace"] = "\(next.hop)" }
            }
        ) {
            $0.cookies = CookieJar()
            $0.authentication = .bearer("t") { _ in throw OutOfOrder() }
        }
        mock.transport.on(.get, "/a").respond(fields: ["Set-Cookie": "k=v"])
        mock.transport.on(.get, "/b").respond(body: "x")
        try await mock.session.get("a")
        try await mock.session.get("b")
        #expect(seen.withLock { $0 } == [[nil, "Bearer t"], ["k=v", "Bearer t"]])
        #expect(mock.transport.requests.map { $0.fields["X-Trace"] } == ["1", "1"])
    }

    @Test func `an interceptor may answer without sending`() async throws {
        for scope in Self.scopes {
            let mock = try Self.mocked(
                scope { _, _ in
                    TransportResponse(
                        head: ResponseHead(status: 200, fields: ["X-From": "memory"]), body: .bytes("kept"))
                })
            let response = try await mock.session.get("a", as: .string)
            #expect(response.value == "kept" && response.fields["x-from"] == "memory")
            let streamed = try await mock.session.stream("a")
            #expect(try await streamed.body.reduce(into: [UInt8]()) { $0 += $1.array } == Array("kept".utf8))
            #expect(mock.transport.requests.isEmpty)
        }
    }

    @Test func `an interceptor may return another response than the one that came`() async throws {
        for scope in Self.scopes {
            let mock = try Self.mocked(
                scope { request, next in
                    let response = try await next(request).collected(upTo: 100)
                    return response.with {
                        $0.head.status = 200
                        $0.body = .bytes("fine")
                    }
                })
            mock.transport.on(.get, "/a").respond(500, body: "broken").always()
            #expect(try await mock.session.get("a", as: .string).value == "fine")
        }
    }

    @Test func `an interceptor may send again, and to another origin if it is around the call`() async throws {
        let mock = try Self.mocked(
            .call { request, next in
                let response = try await next(request)
                if response.head.status == 200 { return response }
                return try await next(request) { $0.head.origin = HTTP.Origin(scheme: .http, host: "other.test") }
            }
        ) {
            $0.credentials = .bearer(token: "t")
            $0.originFields = ["X-Key": "k"]
            $0.fields["X-Open"] = "o"
        }
        mock.transport.otherwise { $0.origin.host == "other.test" ? .respond(body: "there") : .respond(503) }
        let response = try await mock.session.get("a", as: .string)
        #expect(response.value == "there" && response.url == "http://other.test/a")
        #expect(mock.transport.requests.map { $0.fields["Authorization"] } == ["Bearer t", nil])
        #expect(mock.transport.requests.map { $0.fields["X-Key"] } == ["k", nil])
        #expect(mock.transport.requests.map { $0.fields["X-Open"] } == ["o", "o"])
    }

    @Test(arguments: [2, 20])
    func `each next of an interceptor around the call follows redirects of its own`(limit: Int) async throws {
        let mock = try Self.mocked(
            .call { request, next in
                for _ in 1...2 { _ = try await next(request) }
                return try await next(request)
            }
        ) { $0.redirects.limit = limit }
        mock.transport.on(.get, "/a").respond(302, fields: ["Location": "/b"]).always()
        mock.transport.on(.get, "/b").respond(302, fields: ["Location": "/c#end"]).always()
        mock.transport.on(.get, "/c").respond(body: "there").always()
        let response = try await mock.session.get("a", as: .string)
        #expect(response.value == "there" && response.url == "http://api.test/c#end")
        #expect(response.history.map(\.url) == ["http://api.test/a", "http://api.test/b"])
        #expect(mock.transport.requests.count == 9 && response.metrics.hops.count == 9)
    }

    @Test func `a loop of redirects is one also when next is called again`() async throws {
        let mock = try Self.mocked(
            .call { request, next in
                do { return try await next(request) } catch is NetworkError { return try await next(request) }
            })
        mock.transport.on(.get, "/a").respond(302, fields: ["Location": "/b"]).always()
        mock.transport.on(.get, "/b").respond(302, fields: ["Location": "/a"]).always()
        let error = try await networkError { try await mock.session.get("a") }
        #expect(error?.code == .redirectLoop && mock.transport.requests.count == 4)
    }

    @Test func `no other origin gets the secrets of the first, in whatever order they are asked`() async throws {
        let hosts = ["b.test", "c.test", "api.test", "b.test"]
        let mock = try Self.mocked(
            .call { request, next in
                for host in hosts.dropLast() {
                    _ = try await next(request) { $0.head.origin = HTTP.Origin(scheme: .http, host: host) }
                }
                return try await next(request) {
                    $0.head.origin = HTTP.Origin(scheme: .http, host: hosts[3])
                    $0.head.fields["Authorization"] = "Bearer own"
                }
            }
        ) { $0.credentials = .bearer(token: "t") }
        mock.transport.otherwise { _ in .respond(body: "x") }
        try await mock.session.get("a")
        #expect(mock.transport.requests.map(\.origin.host) == hosts)
        let sent = mock.transport.requests.map { $0.fields["Authorization"] }
        #expect(sent == [nil, nil, "Bearer t", "Bearer own"])
    }

    @Test func `no other origin gets the secrets that an interceptor before has added`() async throws {
        let spare = HTTP.Origin(scheme: .http, host: "spare.test")
        let mock = try Self.mocked(
            .call(Self.adding("Authorization", "Bearer fresh")),
            .call { request, next in
                let response = try await next(request)
                return response.head.status == 503 ? try await next(request) { $0.head.origin = spare } : response
            })
        mock.transport.otherwise { $0.origin.host == "spare.test" ? .respond(body: "x") : .respond(503) }
        try await mock.session.get("a")
        #expect(mock.transport.requests.map { $0.fields["Authorization"] } == ["Bearer fresh", nil])
    }

    @Test func `an origin that is named again keeps its route`() async throws {
        for scope in Self.scopes {
            let mock = try Self.mocked(
                scope { request, next in
                    try await next(request) { $0.head.origin = HTTP.Origin(scheme: .http, host: "api.test") }
                }
            ) { $0.socketPath = "/run/api.sock" }
            mock.transport.otherwise { _ in .respond(body: "x") }
            try await mock.session.get("a")
            #expect(mock.transport.requests.map(\.origin.socketPath) == ["/run/api.sock"])
        }
    }

    @Test func `an earlier deadline is that of one sending`() async throws {
        for scope in Self.scopes {
            let clock = ManualClock()
            let mock = try Self.mocked(
                scope { request, next in
                    do {
                        return try await next(request) { $0.deadline = HTTP.Instant(nanoseconds: 0) }
                    } catch let error as NetworkError where error.code == .timedOut {
                        return try await next(request)
                    }
                }
            ) { try? $0.use(clock) }
            mock.transport.on(.get, "/a").respond(body: "x").always()
            #expect(try await mock.session.get("a", as: .string).value == "x")
        }
    }

    @Test func `an error of next reaches the caller unchanged, and one of another request says so`() async throws {
        for scope in Self.scopes {
            let mock = try Self.mocked(scope { request, next in try await next(request) })
            mock.transport.on(.get, "/a").fail(OutOfOrder())
            await #expect(throws: OutOfOrder.self) { try await mock.session.get("a") }
            let other = try Self.mocked(
                scope { request, next in
                    _ = try await next(request)
                    throw NetworkError(.connectionFailed, "another", isSafeToRetry: true)
                }
            ) { $0.retry = .exponential(attempts: 3, base: .zero) }
            other.transport.otherwise { _ in .respond(body: "x") }
            let error = try await networkError { try await other.session.post("a") }
            #expect(error?.code == .connectionFailed && error?.isSafeToRetry == false)
            #expect(other.transport.requests.count == 1, "what was carried out is not sent again")
        }
    }

    @Test func `a request that an interceptor makes waits in no queue`() async throws {
        let mock = try Self.mocked(
            .call { request, next in
                if request.head.path != "/token" { try await next.session?.get("token") }
                return try await next(request)
            }
        ) { $0.queue.running = 1 }
        mock.transport.otherwise { _ in .respond(body: "x") }
        try await mock.session.get("a")
        #expect(mock.transport.requests.map(\.path) == ["/token", "/a"])
    }

    @Test func `an interim status is no response`() async throws {
        for scope in Self.scopes {
            let mock = try Self.mocked(scope { _, _ in TransportResponse(head: ResponseHead(status: 103)) })
            #expect(try await networkError { try await mock.session.get("a") }?.code == .interceptorFailed)
        }
    }

    @Test func `an exchange may not go to another origin`() async throws {
        let mock = try Self.mocked(
            .exchange { request, next in
                try await next(request) { $0.head.origin = HTTP.Origin(scheme: .http, host: "other.test") }
            })
        let error = try await networkError { try await mock.session.get("a") }
        #expect(error?.code == .interceptorFailed && "\(error, default: "")".contains("http://other.test"))
        #expect(mock.transport.requests.isEmpty)
    }

    @Test func `an interceptor's error is the request's, and names the request`() async throws {
        for scope in Self.scopes {
            let mock = try Self.mocked(scope { _, _ in throw OutOfOrder() })
            let error = try await networkError { try await mock.session.get("a") }
            #expect(error?.code == .interceptorFailed && error?.underlying is OutOfOrder)
            #expect(error?.request?.url == "http://api.test/a")
            let other = try Self.mocked(scope { _, _ in throw CancellationError() })
            #expect(try await networkError { try await other.session.get("a") }?.underlying is CancellationError)
            let own = try Self.mocked(scope { _, _ in throw NetworkError(.clearTextRefused, "not so") })
            #expect(try await networkError { try await own.session.get("a") }?.code == .clearTextRefused)
        }
    }

    @Test func `calling next twice at once, or late, is refused, and the request goes on`() async throws {
        for scope in Self.scopes {
            let kept = Mutex<HTTPSession.Next?>(nil)
            let refusals = Mutex<[NetworkError.Code?]>([])
            let mock = try Self.mocked(
                scope { request, next in
                    kept.withLock { $0 = next }
                    let send: @Sendable () async throws -> TransportResponse = {
                        do { return try await next(request) } catch {
                            refusals.withLock { $0.append((error as? NetworkError)?.code) }
                            throw error
                        }
                    }
                    async let first = send()
                    async let second = send()
                    var answers: [TransportResponse] = []
                    do { answers.append(try await first) } catch {}
                    do { answers.append(try await second) } catch {}
                    return try #require(answers.first)
                })
            mock.transport.otherwise { _ in
                // The first waits until the second has been refused.
                while refusals.withLock(\.isEmpty) { await Task.yield() }
                return .respond(body: "x")
            }
            #expect(try await mock.session.get("a", as: .string).value == "x")
            #expect(refusals.withLock { $0 } == [.interceptorFailed])
            let next = try #require(kept.withLock { $0 })
            let late = try await networkError {
                _ = try await next(Self.request)
            }
            #expect(late?.code == .interceptorFailed && "\(late, default: "")".contains("after it had returned"))
            #expect(mock.transport.requests.count == 1)
        }
    }

    @Test func `an interceptor that sends without end is stopped`() async throws {
        let mock = try Self.mocked(
            .exchange { request, next in
                while true { _ = try await next(request) }
            })
        mock.transport.on(.get, "/a").respond(body: "x").always()
        let error = try await networkError { try await mock.session.get("a") }
        #expect(error?.code == .interceptorFailed)
        #expect(mock.transport.requests.count == 100)
    }

    @Test func `an interceptor that never returns is ended with its request`() async throws {
        for scope in Self.scopes {
            let clock = ManualClock()
            let mock = try Self.mocked(
                scope { request, next in
                    try await LoopbackServer.Gate().opened()
                    return try await next(request)
                }
            ) { try? $0.use(clock) }
            async let error = networkError { try await mock.session.get("a", timeout: .seconds(7)) }
            try await clock.waitForDeadlines()
            try await clock.advance(by: .seconds(7))
            #expect(try await error?.code == .timedOut)
            let task = try mock.session.task("a", as: .string)
            task.resume()
            task.cancel()
            #expect(try await networkError { _ = try await task.value }?.code == .cancelled)
        }
    }

    @Test func `an interceptor that waits after it has sent is ended with its request`() async throws {
        for scope in Self.scopes {
            let waits = LoopbackServer.Gate()
            let mock = try Self.mocked(
                scope { request, next in
                    _ = try await next(request)
                    waits.open()
                    try await LoopbackServer.Gate().opened()
                    return try await next(request)
                })
            mock.transport.otherwise { _ in .respond(body: "x") }
            let task = try mock.session.task("a", as: .string)
            task.resume()
            try await waits.opened()
            task.cancel()
            #expect(try await networkError { _ = try await task.value }?.code == .cancelled)
        }
    }

    @Test func `a request that an interceptor makes passes the other interceptors, and not itself`() async throws {
        let journal = Journal()
        let box = Mutex<HTTPSession?>(nil)
        let mock = try Self.mocked(
            .call(journal.interceptor("outer")),
            .call { request, next in
                journal.note("inner > \(request.head.path)")
                if request.head.path == "/a" { try await box.withLock { $0 }?.get("token") }
                return try await next(request)
            })
        box.withLock { $0 = mock.session }
        mock.transport.otherwise { _ in .respond(body: "x") }
        try await mock.session.get("a")
        #expect(journal.all == ["outer > /a", "inner > /a", "outer > /token", "outer < 200", "outer < 200"])
        try await mock.session.get("b")
        #expect(journal.all.suffix(3) == ["outer > /b", "inner > /b", "outer < 200"])
        box.withLock { $0 = nil }
    }

    @Test func `a transport can be wrapped, whatever it is`() async throws {
        struct Recorder: Transport {
            let inner: any Transport
            let journal: Journal

            func exchange(_ request: TransportRequest) async throws -> TransportResponse {
                journal.note(request.head.target)
                return try await inner.exchange(request)
            }
        }
        let journal = Journal()
        let kept = Mutex<(any Transport)?>(nil)
        let mock = try Self.mocked(
            .transport { inner in
                kept.withLock { $0 = inner }
                return Recorder(inner: inner, journal: journal)
            })
        mock.transport.otherwise { _ in .respond(body: "x") }
        for target in ["a", "b?c=d"] as [HTTP.Target] {
            #expect(try await mock.session.get(target, as: .string).value == "x")
        }
        #expect(journal.all == ["/a", "/b?c=d"])
        let inner = try #require(kept.withLock { $0 })
        let error = try await networkError { _ = try await inner.exchange(Self.request) }
        #expect(error?.code == .interceptorFailed)
        let said = "outside the task that runs `exchange`; call it in that task or a child of it"
        #expect(error?.reason.hasSuffix(said) == true)
    }

    @Test func `an interceptor can be called without a session`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/a").respond(body: "x")
        let response = try await Self.adding("X-Trace", "7")(Self.request, HTTPSession.Next(transport))
        #expect(response.head.status == 200)
        #expect(transport.requests.first?.fields["X-Trace"] == "7")
    }

    @Test func `no description shows what an interceptor holds`() throws {
        struct Secretive: HTTPSession.Interceptor {
            let secret = "hunter2"
            func intercept(_ request: TransportRequest, next: HTTPSession.Next) async throws -> TransportResponse {
                try await next(request)
            }
        }
        let interception = HTTPSession.Interception.call(Secretive())
        var dumped = "\(interception)"
        dump(interception, to: &dumped)
        #expect(dumped.contains("Secretive") && !dumped.contains("hunter2"))
    }

    @Test(arguments: [1, 5, 4000]) func `a body's digest is that of what is sent`(limit: Int) async throws {
        let digests = Mutex<[String]>([])
        let mock = try Self.mocked(
            .exchange { request, next in
                let (request, digest) = try await request.digested(by: .sha256, keepingUpTo: limit)
                digests.withLock { $0.append(digest.hex) }
                return try await next(request)
            })
        mock.transport.otherwise { _ in .respond(body: "x") }
        let folder = try Folder()
        let file = try folder.write("hello", as: "body")
        let once = AsyncStream<Bytes> { stream in
            for piece in ["he", "llo"] as [Bytes] { stream.yield(piece) }
            stream.finish()
        }
        let bodies: [RequestBody] = [.string("hello"), .file(file), .stream(once)]
        for body in bodies {
            let error = try await networkError { try await mock.session.post("a", body: body) }
            #expect(error?.code == (limit < 5 && !body.isReplayable ? .limitExceeded : nil))
        }
        let expected = try ContentDigest(.sha256, of: "hello").hex
        #expect(digests.withLock { $0 } == Array(repeating: expected, count: limit < 5 ? 2 : 3))
        #expect(mock.transport.requests.allSatisfy { $0.body == "hello" })
    }

    @Test func `the digest of a long body is that of all of it, and nothing for who is cancelled`() async throws {
        let body = Bytes([UInt8](repeating: 7, count: (3 << 20) + 1))
        let request = Self.request.with { $0.body = .bytes(body) }
        #expect(try await request.digested(by: .sha256).digest == ContentDigest(.sha256, of: body))
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await request.digested(by: .sha256)
        }
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
    }
}
