import Dunlin
import DunlinTesting
import LeakChecking
import Mocking
import Testing

/// What a session is made of and what it keeps apart.
@Suite(.leakChecked) struct `A session and what is its own` {
    @Test func `keeps what it was made with, whatever becomes of that`() async throws {
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

    @Test func `has a limit for each phase and for what is read as a whole`() throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        let configuration = mock.session.configuration
        for phase in Phase.allCases { #expect(configuration.timeouts[phase] != nil, "\(phase)") }
        #expect(configuration.timeouts.firstByte == .seconds(60) && configuration.timeouts.total == .seconds(600))
        #expect(configuration.limits.bodyBytes == 64 << 20)
        #expect(configuration.redirects.limit == 20 && configuration.cookies == nil)
    }

    @Test func `opens nothing before it is asked for something`() async throws {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test")
        configuration.useLoopOfTest()
        configuration.resolver = Unasked()
        let session = try HTTPSession(configuration)
        #expect(session.connections == ConnectionGauges())
        #expect(await session.tasks.count == 0)
    }

    private struct Unasked: Resolver {
        func addresses(of host: String, port: UInt16) async throws -> [SocketAddress] {
            Issue.record("nobody asked for \(host)")
            return []
        }
    }

    @Test func `can be made again of its configuration, and shares no requests with the other`() async throws {
        let first = try Mocked { $0.useLoopOfTest() }
        first.transport.on(.get, "/").never()
        let second = try HTTPSession(first.session.configuration)
        let running = try first.session.task("/", as: .bytes)
        running.resume()
        try await first.transport.waitForRequests()
        #expect(await second.tasks.count == 0)
        #expect(await second.shutdown() == 0)
        #expect(await first.session.tasks.count == 1 && !first.session.isClosed)
        running.cancel()
        _ = await running.result
    }

    @Test func `gives no number twice, whichever session gives it`() async throws {
        let mocks = try (0..<3).map { _ in try Mocked { $0.useLoopOfTest() } }
        let tasks = try (0..<300).map { try mocks[$0 % 3].session.task("/", as: .bytes) }
        #expect(Set(tasks.map(\.id)).count == 300)
        for (index, task) in tasks.enumerated() {
            let own = await mocks[index % 3].session.tasks[task.id]
            let other = await mocks[(index + 1) % 3].session.tasks[task.id]
            #expect(own != nil && other == nil)
        }
    }

    @Test(arguments: [nil, "", "com.alamofire", "Dunlin"])
    func `leaves a request's label to the user, and tells of it whatever it is`(label: String?) async throws {
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

    @Test(arguments: [false, true])
    func `shows a response that breaks off to no serializer`(byHandle: Bool) async throws {
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

    @Test(arguments: [Method.get, .head])
    func `shows a response without a body to its serializer as one of no bytes`(method: Method) async throws {
        let mock = try Mocked { $0.useLoopOfTest() }
        mock.transport.on(method, "/").respond(.noContent)
        let count = try await mock.session.request(method, "/", as: Serializer { _ in }).value
        #expect(count == 0)
    }

    @Test func `shows where it leads and what runs, and no secret`() throws {
        #expect("\(try Mocked("http://eve:s3cret@a.test/v1").session)" == "HTTPSession(http://a.test/v1)")
        #expect("\(try HTTPSession())" == "HTTPSession()")
    }
}
