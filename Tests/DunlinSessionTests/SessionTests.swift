import Dunlin
import DunlinTesting
import LeakChecking
import LedgerRows
import Mocking
import Synchronization
import Testing

/// What a session is made of and what it keeps apart.
@Suite(.leakChecked, .timeLimit(.minutes(10))) struct `A session and what is its own` {
    @Test(.rows("G-6", "SM-1", "RQ-45", "RQ-46", "VD-15"))
    func `a session keeps the configuration it was made with when the original is changed`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/v1/x").respond(body: "x")
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test/v1", transport: transport)
        configuration.useLoopOfTest()
        let session = try HTTPSession(configuration)
        configuration.baseURL = "http://elsewhere.test"
        configuration.fields["User-Agent"] = "another"
        _ = try await session.get("x", as: .bytes)
        let sent = try #require(transport.requests.first)
        #expect(sent.origin.host == "api.test")
        #expect(sent.fields["user-agent"] == HTTPSession.Configuration.defaultFields["user-agent"])
        #expect(session.configuration.baseURL == "http://api.test/v1")
    }

    @Test(.rows("SM-40", "RQ-51")) func `a session has a time limit for each phase and a byte limit for a whole body`()
        throws
    {
        let mock = try Mocked { $0.useLoopOfTest() }
        let configuration = mock.session.configuration
        // How long a request waits for its turn is for whoever makes a queue to say.
        let without: [Timeouts.Limit] = [.queue, .attempt]
        for limit in Timeouts.Limit.allCases {
            #expect((configuration.timeouts[limit] == nil) == without.contains(limit))
        }
        #expect(configuration.timeouts.firstByte == .seconds(60) && configuration.timeouts.total == .seconds(600))
        #expect(configuration.limits.bodyBytes == 64 << 20)
        #expect(configuration.redirects.limit == 20 && configuration.cookies == nil)
    }

    @Test(.rows("SM-6", "VD-5")) func `a session opens no connection before its first request`() async throws {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test")
        configuration.useLoopOfTest()
        configuration.resolver = Unasked()
        let session = try HTTPSession(configuration)
        #expect(session.connections == HTTP.ConnectionGauges())
        #expect(await session.tasks.count == 0)
    }

    private struct Unasked: Resolver {
        func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
            Issue.record("nobody asked for \(host)")
            return []
        }
    }

    @Test(.rows("SM-16", "HS-20"))
    func `sessions that are made of one configuration share no requests`() async throws {
        let first = try Mocked { $0.useLoopOfTest() }
        first.transport.on(.get, "/").never()
        let second = try HTTPSession(first.session.configuration)
        let running = try first.session.task("/", as: .bytes)
        running.resume()
        try await first.transport.waitForRequests()
        #expect(await second.tasks.count == 0)
        #expect(await second.shutdown() == 0)
        #expect(await first.session.tasks.count == 1 && !first.session.isShutDown)
        running.cancel()
        _ = await running.result
    }

    @Test(.rows("SM-16", "HS-20"))
    func `a session that is made of another's configuration has all its settings, and connections of its own`()
        async throws
    {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let ended = Atomic(0)
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.useLoopOfTest()
        configuration.fields.append(name: "X-Own", value: "1")
        configuration.requestSerializer = .json
        configuration.hooks.completed = { _ in ended.add(1, ordering: .relaxed) }
        let first = try HTTPSession(configuration)
        let second = try HTTPSession(first.configuration)
        for session in [first, second, second] { _ = try await session.post("", parameters: ["a": 1], as: .bytes) }
        let requests = server.requests
        #expect(requests.allSatisfy { $0.fields["X-Own"] == "1" && $0.body == #"{"a":1}"# })
        #expect(requests.count == 3 && server.connectionCount == 2)
        await first.shutdown()
        await second.shutdown()
        #expect(ended.load(ordering: .relaxed) == 3)
    }

    @Test(.rows("SM-8")) func `no two tasks have the same number, whichever session they belong to`() async throws {
        let mocks = try (0..<3).map { _ in try Mocked { $0.useLoopOfTest() } }
        let tasks = try (0..<300).map { try mocks[$0 % 3].session.task("/", as: .bytes) }
        #expect(Set(tasks.map(\.id)).count == 300)
        for (index, task) in tasks.enumerated() {
            let own = await mocks[index % 3].session.tasks[task.id]
            let other = await mocks[(index + 1) % 3].session.tasks[task.id]
            #expect(own != nil && other == nil)
        }
    }

    @Test(.rows("SM-9"), arguments: [nil, "", "com.alamofire", "Dunlin"])
    func `a request's events carry the label that the caller gave, whatever it is`(label: String?) async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(.get, "/").respond(body: "x")
        let events = mock.session.events
        let task = try mock.session.task("/", options: .init(label: label), as: .bytes)
        task.resume()
        _ = try await task.value
        await mock.session.shutdown()
        var labels: [String?] = []
        for await event in events {
            switch event {
            case .resumed(let task): labels.append(task.label)
            case .completed(let completion): labels.append(completion.task.label)
            default: break
            }
        }
        #expect(labels == [label, label])
    }

    /// Counts the responses it is given.
    private struct Serializer: ResponseSerializer {
        let seen: @Sendable (Int) -> Void

        func serialize(_ response: HTTP.WholeResponse) -> Int {
            seen(response.body.count)
            return response.body.count
        }
    }

    @Test(.rows("SM-44"), arguments: [false, true])
    func `a response that breaks off is given to no serializer`(byHandle: Bool) async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        let lost = NetworkError(.connectionClosed, "lost", response: ResponseHead(status: .ok), body: "be")
        mock.transport.on(.get, "/").reply(.stream(["be"], failing: lost))
        let serializer = Serializer { Issue.record("was shown \($0) bytes") }
        let error = try await networkError {
            if byHandle {
                _ = try await mock.session.task("/", as: serializer).value
            } else {
                _ = try await mock.session.get("/", as: serializer)
            }
        }
        #expect(error?.code == .connectionClosed)
        #expect(error?.response?.status == .ok && error?.body == "be")
    }

    @Test(.rows("SM-42"), arguments: [HTTP.Method.get, .head])
    func `a response without a body is given to its serializer as one of no bytes`(method: HTTP.Method) async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(method, "/").respond(.noContent)
        let count = try await mock.session.request("/", method: method, as: Serializer { _ in }).value
        #expect(count == 0)
    }

    @Test(.rows("HS-21")) func `a session's description shows its base URL and no user info`() throws {
        #expect("\(try Mocked("http://eve:s3cret@a.test/v1").session)" == "HTTPSession(http://a.test/v1)")
        #expect("\(try HTTPSession())" == "HTTPSession()")
    }
}
