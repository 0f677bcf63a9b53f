import Dunlin
import DunlinTesting

extension Scenario {
    /// Handles, and what their holders do with them.
    static let handles: [Scenario] = [
        Scenario("handle-suspended-before-it-begins") { scene in
            scene.server.enqueue(.response(body: "hello"))
            let task = try scene.session.task("a", as: .string)
            task.suspend()
            await scene.noteTasks("before it begins")
            task.resume()
            await scene.note("value") { try await task.response }
        },
        Scenario("handle-cancelled-twice") { scene in
            let task = try scene.session.task("a", as: .string)
            task.cancel()
            task.cancel()
            task.resume()
            await scene.note("value") { try await task.response }
            await scene.noteTasks("afterwards")
        },
        Scenario("handle-awaited-by-two") { scene in
            let (reached, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            scene.server.enqueue([
                .signal(reached), .waitForSignal(goOn),
                .message(.init(200, fields: ["Content-Length": "2"], body: "hi")),
            ])
            let task = try scene.session.task("a", as: .string)
            async let one = task.value
            async let two = task.value
            try await reached.opened()
            goOn.open()
            await scene.transcript.note("values: \(try one), \(try two)")
        },
        Scenario("handle-waiter-cancelled") { scene in
            let reached = LoopbackServer.Gate()
            scene.server.enqueue([.signal(reached), .stall])
            let task = try scene.session.task("a", as: .string)
            let waiting = Task { await scene.note("cancelled waiter") { try await task.response } }
            try await reached.opened()
            waiting.cancel()
            await waiting.value
            await scene.note("another") { try await task.response }
        },
        Scenario("handle-tells-progress") { scene in
            scene.server.enqueue(.response(body: "hello"))
            let task = try scene.session.task("a", method: .post, body: .string("abc"), as: .string)
            task.resume()
            var steps: [HTTPSession.TransferProgress] = []
            for await step in task.downloadProgress { steps.append(step) }
            scene.transcript.note("last: \(steps.last?.wireBytes ?? 0), final \(steps.last?.isFinal ?? false)")
            scene.transcript.note("up: \(task.uploaded.wireBytes) of \(task.uploaded.totalBytes ?? 0)")
            await scene.note("value") { try await task.response }
        },
        Scenario("handle-redirected") { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/b"], body: "moved"), .response(body: "here"))
            await scene.note("value") { try await scene.session.task("a", as: .string).response }
        },
        Scenario("handle-not-found") { scene in
            scene.server.enqueue(.response(404, body: "none"))
            let task = try scene.session.task("a", as: .string)
            await scene.note("value") { try await task.response }
            await scene.note("again") { try await task.value }
        },
        Scenario("handle-after-shutdown") { scene in
            let task = try scene.session.task("a", as: .string)
            await scene.session.shutdown()
            await scene.note("value") { try await task.response }
            await scene.note("late") { try await scene.session.task("b", as: .string).response }
        },
    ]

    /// Requests that wait for their turn or for each other, and those that do not get one.
    static let lines: [Scenario] = [
        Scenario("queue-full") {
            $0.queue = .init(running: 1, maximumWaiting: 1)
        } _: { scene in
            let goOn = LoopbackServer.Gate()
            scene.server.respond { _ in
                [.waitForSignal(goOn), .message(.init(200, fields: ["Content-Length": "1"], body: "x"))]
            }
            let first = try await scene.begin("a", running: true)
            let second = try await scene.begin("b", running: false)
            await scene.note("third") { try await scene.session.get("c", as: .string) }
            await scene.note("stream") { try await scene.read("d") }
            goOn.open()
            await scene.note("first") { try await first.response }
            await scene.note("second") { try await second.response }
        },
        Scenario("queue-of-streams", configure: { $0.queue.running = 1 }) { scene in
            scene.server.route(.get, "/a", .response(body: "a"))
            scene.server.route(.get, "/b", .response(body: "b"))
            await scene.note("stream") {
                try await scene.session.withResponse(from: "a") { response in
                    let waiting = try await scene.begin("b", running: false)
                    let text = try await scene.text(response)
                    return (waiting, text)
                }.0.response
            }
        },
        Scenario("queue-passes-who-is-suspended", configure: { $0.queue.running = 1 }) { scene in
            let goOn = LoopbackServer.Gate()
            scene.server.respond { _ in
                [.waitForSignal(goOn), .message(.init(200, fields: ["Content-Length": "1"], body: "x"))]
            }
            let first = try await scene.begin("a", running: true)
            _ = try await scene.server.waitForRequests(1)
            let second = try await scene.begin("b", running: false)
            let third = try await scene.begin("c", running: false)
            second.suspend()
            await scene.noteTasks("while they wait")
            goOn.open()
            await scene.note("first") { try await first.response }
            await scene.note("third") { try await third.response }
            second.resume()
            await scene.note("second") { try await second.response }
        },
        Scenario("queue-batch", configure: { $0.queue.running = 1 }) { scene in
            for target in ["a", "b", "c"] { scene.server.route(.get, "/\(target)", .response(body: "x")) }
            let batch = try scene.session.batch([.init("a"), .init("b"), .init("c")], running: 1, as: .string)
            for result in await batch.results { await scene.note("result") { try result.get() } }
            let state = batch.state
            scene.transcript.note("state: \(state.finished) finished, \(state.failed) failed, \(state.total) in all")
        },
        Scenario("queue-closed", configure: { $0.queue.running = 1 }) { scene in
            scene.server.enqueue([.stall])
            let first = try await scene.begin("a", running: true)
            _ = try await scene.server.waitForRequests(1)
            let second = try await scene.begin("b", running: false)
            await scene.noteTasks("while they run and wait")
            scene.transcript.note("shutdown: \(await scene.session.shutdown())")
            await scene.note("first") { try await first.response }
            await scene.note("second") { try await second.response }
        },
        Scenario("batch-cancelled") { scene in
            let reached = LoopbackServer.Gate()
            scene.server.route(.get, "/a", [.signal(reached), .stall])
            let batch = try scene.session.batch([.init("a"), .init("b")], running: 1, as: .string)
            try await reached.opened()
            await scene.noteTasks("while one runs")
            batch.cancel()
            for result in await batch.results { await scene.note("result") { try result.get() } }
        },
        Scenario("after-a-failed-one") { scene in
            scene.server.enqueue(.response(404), .response(body: "two"))
            let (first, second) = try await scene.waitingForAnother()
            first.resume()
            await scene.note("second") { try await second.response }
            await scene.note("first") { try await first.response }
        },
        Scenario("after-a-cancelled-one") { scene in
            scene.server.enqueue(.response(body: "two"))
            let (first, second) = try await scene.waitingForAnother()
            first.cancel()
            await scene.note("first") { try await first.response }
            await scene.note("second") { try await second.response }
        },
    ]

    /// Connections that are opened before they are needed.
    static let openings: [Scenario] = [
        Scenario("prewarm-several") { scene in
            scene.server.respond { _ in .response(body: "x") }
            await scene.note("two") { try await scene.session.prewarm(2) }
            await scene.note("one") { try await scene.session.prewarm(1) }
            await scene.note("none") { try await scene.session.prewarm(0) }
            try await scene.server.wait { $0.open == 2 }
            await scene.note("get") { try await scene.session.get("a", as: .bytes).status }
        },
        Scenario("prewarm-limited", configure: { $0.connections.perOrigin = 2 }) { scene in
            await scene.note("prewarm") { try await scene.session.prewarm(5) }
            try await scene.server.wait { $0.open == 2 }
        },
        Scenario("prewarm-refused") { scene in
            await scene.note("prewarm") { try await scene.session.prewarm(1, to: "http://127.0.0.1:1") }
        },
        Scenario("prewarm-not-ours") { scene in
            await scene.note("prewarm") { try await scene.session.prewarm(1, to: "ftp://127.0.0.1") }
        },
        Scenario("prewarm-cancelled", configure: { $0.resolver = SilentResolver() }) { scene in
            let running = Task {
                await scene.note("prewarm") { try await scene.session.prewarm(1, to: "http://nowhere.test") }
            }
            try await scene.stage.eventually("it is opening") {
                await scene.session.tasks.all.contains { $0.phase == .resolve }
            }
            await scene.noteTasks("meanwhile")
            running.cancel()
            await running.value
        },
        Scenario("prewarm-after-shutdown") { scene in
            await scene.session.shutdown()
            await scene.note("prewarm") { try await scene.session.prewarm(1) }
        },
    ]
}

extension Scene {
    /// A request with a handle, once it runs or waits.
    func begin(
        _ target: HTTP.Target, running: Bool
    ) async throws -> HTTPSession.RequestTask<String> {
        let task = try session.task(target, as: .string)
        task.resume()
        try await stage.eventually("it is where it should be") {
            running ? task.snapshot.state == .running(hop: 1) : task.snapshot.phase == .pool
        }
        return task
    }
}

extension Scene {
    /// A request that has not begun, and one that waits for its end.
    fileprivate func waitingForAnother() async throws -> (
        first: HTTPSession.RequestTask<String>, second: HTTPSession.RequestTask<String>
    ) {
        let first = try session.task("a", as: .string)
        var options = HTTPSession.Options()
        options.startsAfter = [first.id]
        let second = try session.task("b", options: options, as: .string)
        second.resume()
        await noteTasks("while it waits")
        return (first, second)
    }
}
