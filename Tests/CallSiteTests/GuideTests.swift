import Dispatch
import Dunlin
import DunlinDisplay
import DunlinFoundation
import DunlinTesting
import Foundation
import Glibc
import Testing

/// The snippets of the guides, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guides` {
    nonisolated struct User: Codable {
        var id: Int
        var name: String
    }

    private nonisolated struct Draft: Codable {
        var name: String
    }

    private nonisolated struct Problem: Codable {
        var title: String
    }

    let transport = MockTransport()
    let client: HTTPSession

    init() throws {
        let transport = transport
        transport.otherwise { request in
            switch request.path {
            case "/v1/users/42": .respond(json: User(id: 42, name: "Ada"))
            case "/v1/users" where request.method == .post: .respond(json: User(id: 1, name: "Ada"))
            case "/v1/users": .respond(json: [User]())
            case "/v1/users/42/posts", "/v1/users/Ada/posts": .respond(json: [Post(title: "x")])
            case "/v1/users/7": .respond(.notFound)
            case "/v1/users/x": .respond(json: ["id": "x"])
            case "/v1/orders": .respond(422, json: Problem(title: "no such article"))
            default: .respond(body: "bytes")
            }
        }
        client = try HTTPSession(baseURL: "https://api.test/v1/") {
            $0.transport = transport
            // Tests run beside others that keep the main actor busy: no time passes for these requests.
            try $0.use(ManualClock())
        }
    }

    private var sent: String {
        transport.requests.last.map { "\($0.method) \($0.target) \(String($0.body))" } ?? "nothing"
    }

    @Test func `the examples about getting started run as written`() async throws {
        let (name, link) = ("Ada", "https://api.test/v1/users?page=2")
        do {
            let client = try HTTPSession(baseURL: "https://api.example.com/v1/")

            #expect(!client.isShutDown)
        }

        do {
            let user = try await client.get("users/42", as: User.self)
            print(user.name)
        }

        let response = try await client.get(
            "users/42", as: .json(User.self))
        print(response.status, response.fields["ETag"] ?? "no tag")
        print(response.value.name)

        let draft = Draft(name: "Ada")
        let made = try await client.post(
            "users", json: draft, as: User.self)
        try await client.delete("users/42")

        #expect(made.id == 1)
        let found = try await client.get(
            "users", query: ["q": "ada", "page": 2],
            fields: ["X-Trace": "7"], timeout: .seconds(5),
            as: [User].self)

        #expect(found.isEmpty && sent == "GET /v1/users?q=ada&page=2 ")
        let posts = try await client.get(
            "users/\(name)/posts", as: [Post].self)
        let next = try await client.get(url: link, as: [User].self)

        #expect(posts.count == 1 && next.isEmpty && sent == "GET /v1/users?page=2 ")
        do {
            try await client.delete("users/7")
        } catch let error as NetworkError where error.code == .unacceptableStatus {
            print("refused:", error)
        } catch let error as NetworkError where error.code == .timedOut {
            print("no answer in time:", error)
        }

        await client.shutdown(grace: .seconds(5))
        #expect(client.isShutDown)
    }

    @Test func `the examples about headers and options run as written`() async throws {
        let (key, nextKey, token, renewed) = ("k1", "k2", "t1", "t2")
        do {
            let page = try await client.get(
                "reports", fields: ["Accept-Language": "de"], as: .string)

            #expect(page.value == "bytes" && transport.requests[0].fields.values(of: "accept-language") == ["de"])
        }

        var configuration = HTTPSession.Configuration(
            baseURL: "https://api.example.com/v1/")
        configuration.fields["X-Client"] = "importer"
        configuration.originFields = ["X-API-Key": key]
        configuration.credentials = .bearer(token: token)

        do {
            let client = try HTTPSession(configuration)
            _ = client
        }

        configuration.transport = transport
        try configuration.use(ManualClock())
        let client = try HTTPSession(configuration)
        try client.replace(credentials: .bearer(token: renewed))
        try client.replace(originFields: ["X-API-Key": nextKey])

        let options = HTTPSession.Options(
            fields: ["X-Trace": "7"], timeouts: .init(firstByte: .seconds(5)),
            bodyLimit: 1_000_000, tags: ["nightly"], retry: .never)
        try await client.get("reports", options: options)

        let fields = try #require(transport.requests.last).fields
        #expect(fields["x-trace"] == "7" && fields["x-client"] == "importer" && fields["x-api-key"] == "k2")
        #expect(fields["authorization"] == "Bearer t2")
        try await client.get("reports", fields: ["X-Trace": "8", "X-API-Key": "k3"], options: options)
        let own = try #require(transport.requests.last).fields
        #expect(own.values(of: "x-trace") == ["8"] && own.values(of: "x-api-key") == ["k3"])
        try await client.get("https://other.test/x", fields: ["X-Client": "call"])
        let elsewhere = try #require(transport.requests.last).fields
        #expect(elsewhere["x-client"] == "call" && elsewhere["x-api-key"] == nil && elsewhere["authorization"] == nil)
    }

    @Test func `the examples about timeouts and limits run as written`() async throws {
        do {
            let client = try HTTPSession(baseURL: "https://api.example.com/v1/") {
                $0.timeouts.total = .seconds(20)
                $0.timeouts.readIdle = nil
                $0.limits.bodyBytes = 4_000_000
                $0.connections.perOrigin = 16
            }

            #expect(client.configuration.timeouts.readIdle == nil)
        }

        let user = try await client.get(
            "users/42", timeout: .seconds(2), as: User.self)
        let report = try await client.get(
            "report",
            options: .init(
                timeouts: .init(firstByte: .none, total: .minutes(30)),
                bodyLimit: .none))

        #expect(user.id == 42 && report.value == "bytes")
        #expect(transport.requests[0].timeouts.total == .seconds(2))
        #expect(transport.requests[1].timeouts.firstByte == nil && transport.requests[1].timeouts.pool == .seconds(10))
        let (owner, posts) = try await client.withTimeout(.seconds(2)) {
            let owner = try await client.get("users/42", as: User.self)
            let posts = try await client.get("users/42/posts", as: [Post].self)
            return (owner, posts)
        }

        #expect(owner.id == 42 && posts.count == 1)
    }

    @Test func `the tables name the defaults that are in force`() {
        let (timeouts, configuration) = (Timeouts(), HTTPSession.Configuration())
        #expect(
            Timeouts.Limit.allCases.map { timeouts[$0] }
                == [10, 10, 10, 10, 30, 10, 30, 60, 30, nil, nil, 600].map { $0.map { .seconds($0) } })
        let limits = configuration.limits
        #expect(limits.bodyBytes == 64 << 20 && limits.decodedBytes == 256 << 20 && limits.decodingRatio == 500)
        #expect(limits.headBytes == 128 << 10 && limits.lineBytes == 16 << 10 && limits.fieldCount == 1024)
        #expect(limits.interimResponses == 16 && limits.trailerBytes == 16 << 10)
        #expect(limits.errorBodyBytes == 256 << 10)
        let connections = configuration.connections
        #expect(connections.perOrigin == 128 && connections.total == 1024 && connections.maximumWaiting == 10_000)
        #expect(connections.idleTime == .seconds(60) && connections.maximumAge == nil && connections.maximumUses == nil)
        #expect(configuration.queue == .init(running: nil, runningPerOrigin: nil, maximumWaiting: 10_000))
        #expect(configuration.redirects.limit == 20 && configuration.retry.attempts == 1)
        let retry = HTTPSession.RetryPolicy.exponential(attempts: 3)
        #expect(retry.cap == .seconds(10) && retry.budget == .ratio(0.2, floor: 10))
        #expect(retry.retryAfterLimit == .seconds(60) && HTTPSession.Options().continueTimeout == .seconds(1))
        let json = configuration.json.limits
        #expect(json.depth == 512 && json.values == 16_777_216 && json.textLength == 268_435_456)
        let names = configuration.nameResolution
        #expect(names.timeToLive == .seconds(60) && names.negativeTimeToLive == .seconds(5) && names.capacity == 1024)
        #expect(names.connectionAttemptDelay == .milliseconds(250))
        let cookies = CookieJar.Limits()
        #expect(cookies.perDomain == 180 && cookies.total == 3000 && cookies.perResponse == 180)
        #expect(HTTPSession.DownloadOptions().bodyLimit == nil)
    }

    @Test func `the examples about errors run as written`() async throws {
        let order = Draft(name: "none")
        do {
            _ = try await client.get("users/42", as: User.self)
        } catch let error as NetworkError {
            switch error.code {
            case .unacceptableStatus: print(error.response?.status ?? 0)
            case .timedOut: print(error.exceeded as Any, error.elapsed as Any)
            case .decodingFailed: print(error.codingPath.map(\.stringValue))
            default: print(error)
            }
        }

        do {
            try await client.post("orders", json: order)
        } catch let error as NetworkError where error.code == .unacceptableStatus {
            let problem = try error.body(as: Problem.self)
            print(problem.title)
        }

        var configuration = HTTPSession.Configuration()
        configuration.retry = .exponential(attempts: 3)

        do {
            _ = try await client.get("users/x", as: User.self)
        } catch let error as NetworkError where error.code == .decodingFailed {
            print(error.codingPath.map(\.stringValue), error.reason)
            print(error.underlying as? DecodingError as Any)
        }

        let error = try #require(await #expect(throws: NetworkError.self) { try await client.delete("users/7") })
        #expect("\(error)" == "DELETE https://api.test/v1/users/7: 404 Not Found")
        let bridged = NSError(bridging: error)
        print(bridged.domain, bridged.code, bridged.localizedDescription)

        #expect(bridged.code == (error as NSError).code && bridged.domain != (error as NSError).domain)
        #expect(configuration.retry.attempts == 3)
    }

    @Test func `the examples about what errors say of retries and secrets run as written`() async throws {
        let refused = await #expect(throws: NetworkError.self) { try await client.get("users/7") }
        #expect(refused?.isSafeToRetry == false && refused?.requestMayHaveBeenSent == true)
        transport.on(.get, "/v1/c").fail(.connectionRefused)
        let unsent = await #expect(throws: NetworkError.self) { try await client.get("c?token=hush") }
        #expect(unsent?.isSafeToRetry == true && unsent?.request?.url == "https://api.test/v1/c?token=***")
        let response = try await client.get("x", query: ["token": "shown"], as: .string)
        #expect("\(response)".contains("token=***"))
        let url = try #require(URL(string: "https://api.test/v1/users/42?a=b"))
        #expect(try client.task(.url(url), as: .bytes).snapshot.targetTemplate == "https://api.test/v1/users/42?a=b")
        #expect(try client.task("x", query: ["a": "b"], as: .bytes).snapshot.targetTemplate == "x")
        var configuration = HTTPSession.Configuration(baseURL: "https://user:hush@api.test/v1/")
        configuration.originFields = ["X-API-Key": "hush"]
        configuration.credentials = .bearer(token: "hush")
        #expect(!"\(configuration)".contains("hush"))
    }

    @Test func `the examples about lifetimes run as written`() async throws {
        let transport = transport
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test/v1/")
        configuration.transport = transport
        try await withSession(configuration) { client in
            print(try await client.get("users/42", as: User.self))
        }

        do {
            let task = try client.task("report", as: .bytes)
            task.resume()
            let report = try await task.value

            #expect(report == "bytes")
        }

        let background = HTTPSession.Options(tags: ["background"])
        let task = try client.task(
            "report", options: background, as: .bytes)
        let count = await client.tasks.cancel(tagged: "background")

        let ended = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(count == 1 && ended?.code == .cancelled)
        let cancelled = await client.shutdown(grace: .seconds(5))

        await client.restart(grace: .seconds(5))
        let again = try await client.get("users/42", as: User.self)
        #expect(cancelled == 0 && again.id == 42)
    }

    /// Compiled only: what a signal does belongs to the whole process.
    private func endOnSignals() -> [any DispatchSourceSignal] {
        let client = client
        let signals = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(
                signal: number, queue: .main)
            source.setEventHandler {
                Task { await client.shutdown(grace: .seconds(5)) }
            }
            source.activate()
            return source
        }

        return signals
    }

    private nonisolated final class Log: Sendable {
        private let (lines, end) = AsyncStream<String>.makeStream()

        func info(_ line: String) { end.yield(line) }
        func warning(_ line: String) { end.yield("! \(line)") }

        func next() async -> String? {
            for await line in lines { return line }
            return nil
        }
    }

    @Test func `the examples about a log line for each request run as written`() async throws {
        let logger = Log()
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test/v1/")
        configuration.transport = transport
        configuration.hooks.completed = { end in
            if end.error == nil {
                logger.info("\(end)")
            } else {
                logger.warning("\(end)")
            }
        }
        let client = try HTTPSession(configuration)
        try await client.get("users/\(42, name: "id")?token=x")
        let line = try #require(await logger.next())
        #expect(line.contains("GET https://api.test/v1/users/42?token=***: 200 OK") && !line.hasPrefix("!"))
        _ = try? await client.delete("users/7")
        let refused = try #require(await logger.next())
        #expect(refused.hasPrefix("! #") && refused.contains("users/7: 404 Not Found"))
    }

    @Test func `the examples about curl commands run as written`() async throws {
        let logger = Log()
        do {
            try await client.delete("users/7")
        } catch let error as NetworkError {
            logger.info(error.curl() ?? "\(error)")
        }
        #expect(try #require(await logger.next()).hasPrefix("curl -X DELETE https://api.test/v1/users/7 --http1.1"))

        var configuration = HTTPSession.Configuration(baseURL: "https://api.test/v1/")
        configuration.hooks.completed = { end in
            if end.error != nil {
                logger.info(end.task.curl(showingSecrets: true) ?? "")
            }
        }
        configuration.secretFields = ["X-Tenant-Key", "ticket"]
        configuration.transport = transport
        let told = try HTTPSession(configuration)
        _ = try? await told.delete("users/7?token=x")
        #expect(try #require(await logger.next()).contains("token=x"))

        let task = try client.task(
            "users", method: .post, json: ["name": "Ada"])
        print(task.curl())
        #expect(task.curl().contains("--data-binary @-") && !task.curl().contains("Ada"))
    }

    @Test func `the examples about wire traces run as written`() async throws {
        let trace = client.trace()
        let log = Task {
            for await event in trace { print(event) }
        }

        let hints = Log()
        @Sendable nonisolated func preload(_ links: [String]) { hints.info("\(links)") }
        try await client.get("users/42")
        var options = HTTPSession.Options()
        options.hooks.interimResponse = { task, head in
            guard head.status == 103 else { return }
            preload(head.fields.values(of: "link"))
        }
        try await client.get("users/42", options: options)
        log.cancel()
    }

    @Test func `the examples about events and metrics run as written`() async throws {
        let (logger, id) = (Log(), 42)
        let events = client.events
        let log = Task {
            for await event in events {
                guard case .completed(let end) = event else { continue }
                logger.info("\(end.task.method) \(end.task.targetTemplate)")
            }
        }

        let response = try await client.get(
            "users/42", as: .json(User.self))
        print(response.metrics)
        for hop in response.metrics.hops {
            print(hop.duration(of: .firstByte) ?? .zero, hop.bytesReceived)
        }

        #expect(await logger.next() == "GET users/42")
        let user = try await client.get(
            "users/\(id, name: "id")", as: User.self)

        await client.shutdown()
        #expect(await logger.next() == "GET users/{id}")
        await log.value
        #expect(user.id == 42)
    }
}
