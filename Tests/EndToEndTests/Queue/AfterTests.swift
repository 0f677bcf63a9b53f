import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A request that comes after others` {
    private static func options(after ids: [HTTPSession.TaskID]) -> HTTPSession.Options {
        var options = HTTPSession.Options()
        options.startsAfter = ids
        return options
    }

    @Test(.rows("OP-11"), arguments: [nil, 1, 2, 3] as [Int?])
    func `a request begins when all it comes after have ended, whatever the queue's limit`(running: Int?) async throws {
        try await Stage.with(configure: { $0.queue.running = running }) { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try stage.session.task("first", as: .string)
            let second = try stage.session.task("second", as: .string)
            let last = try stage.session.task("last", options: Self.options(after: [first.id, second.id]), as: .string)
            last.resume()
            first.resume()
            try await turnstile.pass(0)
            #expect(try await first.value == "x")
            second.resume()
            try await turnstile.pass(1)
            try await turnstile.pass(2)
            #expect(try await last.value == "x")
            #expect(turnstile.arrived == ["/first", "/second", "/last"])
            #expect(turnstile.peak == 1)
        }
    }

    @Test func `a request that waits for others to end takes no place in the queue`() async throws {
        try await Stage.with(configure: { $0.queue = .init(running: 1, maximumWaiting: 0) }) {
            (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            let first = try stage.session.task("first", as: .string)
            let last = try stage.session.task("last", options: Self.options(after: [first.id]), as: .string)
            last.resume()
            async let other = stage.session.get("other", as: .string).value
            try await turnstile.pass(0)
            #expect(try await other == "x")
            #expect(last.snapshot.state == .waiting)
            #expect(last.snapshot.phase == nil)
            turnstile.open()
            #expect(try await first.value == "x")
            #expect(try await last.value == "x")
            #expect(turnstile.arrived == ["/other", "/first", "/last"])
        }
    }

    enum Ending: CaseIterable {
        case badStatus
        case cancelled
        case cancelledBeforeItBegan
        case overLongAgo
        case neverThere
    }

    @Test(arguments: Ending.allCases)
    func `a request begins however those it comes after have ended`(ending: Ending) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/bad", .response(500))
            stage.server.route(.get, "/silent", [.stall])
            stage.server.route(.get, "/last", .response(body: "x"))
            let target: HTTP.Target = ending == .cancelled ? "silent" : "bad"
            let first = try stage.session.task(target, as: .bytes)
            var ids = [first.id]
            switch ending {
            case .badStatus, .cancelledBeforeItBegan: break
            case .cancelled:
                first.resume()
                _ = try await stage.server.waitForRequests(1)
            case .overLongAgo: _ = await first.result
            case .neverThere:
                let other = try HTTPSession()
                ids = [try other.task("http://127.0.0.1:1", as: .bytes).id]
            }
            let last = try stage.session.task("last", options: Self.options(after: ids), as: .string)
            last.resume()
            switch ending {
            case .badStatus: first.resume()
            case .cancelled, .cancelledBeforeItBegan: first.cancel()
            case .overLongAgo, .neverThere: break
            }
            #expect(try await last.value == "x")
        }
    }

    @Test func `a request can come after one that has no observer`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let turnstile = Turnstile(at: stage.server)
            async let plain = stage.session.get("plain", as: .string).value
            try await stage.eventually("it is there") { turnstile.arrived.count == 1 }
            let id = try #require(await stage.session.tasks.all.first?.id)
            #expect(await stage.session.tasks[id]?.setPriority(.high) != true)
            async let last = stage.session.get("last", options: Self.options(after: [id]), as: .string).value
            try await stage.eventually("the other waits") { await stage.session.tasks.count == 2 }
            try await turnstile.pass(0)
            turnstile.open()
            #expect(try await plain == "x")
            #expect(try await last == "x")
            #expect(turnstile.arrived == ["/plain", "/last"])
            #expect(turnstile.peak == 1)
        }
    }

    @Test func `a long chain of requests is sent in order`() async throws {
        try await Stage.with(configure: { $0.queue.running = 2 }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            var tasks: [HTTPSession.RequestTask<String>] = []
            for number in 0..<40 {
                let options = Self.options(after: tasks.suffix(3).map(\.id))
                tasks.append(try stage.session.task("\(number)", options: options, as: .string))
            }
            for task in tasks.reversed() { task.resume() }
            for task in tasks { _ = try await task.value }
            #expect(stage.server.requests.map(\.target) == (0..<40).map { "/\($0)" })
        }
    }
}
