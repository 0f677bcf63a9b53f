import Dunlin
import DunlinTesting

extension Scenario {
    /// Handles, queues and batches: requests that wait for somebody, or for each other.
    static let crowds: [Scenario] = [
        Scenario("handle") { scene in
            scene.server.enqueue(.response(body: "hello"))
            let task = try scene.session.task("a", as: .string)
            await scene.noteTasks("before it begins")
            await scene.note("value") { try await task.response }
            await scene.note("again") { try await task.value }
        },
        Scenario("handle-cancelled-before-it-begins") { scene in
            let task = try scene.session.task("a", as: .string)
            task.cancel()
            await scene.note("value") { try await task.response }
        },
        Scenario("handle-let-go-of-before-it-begins") { scene in
            do { _ = try scene.session.task("a", as: .string) }
            try await scene.session.tasks.waitUntilEmpty()
            await scene.noteTasks("afterwards")
        },
        Scenario("handle-suspended-and-resumed") { scene in
            let (reached, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            scene.server.enqueue([
                .signal(reached), .waitForSignal(goOn),
                .message(.init(200, fields: ["Content-Length": "2"], body: "hi")),
            ])
            let task = try scene.session.task("a", as: .string)
            task.resume()
            try await reached.opened()
            task.suspend()
            await scene.noteTasks("while it is suspended")
            goOn.open()
            task.resume()
            await scene.note("value") { try await task.response }
        },
        Scenario("handle-cancelled-while-it-runs") { scene in
            let reached = LoopbackServer.Gate()
            scene.server.enqueue([.signal(reached), .stall])
            let task = try scene.session.task("a", as: .string)
            task.resume()
            try await reached.opened()
            task.cancel()
            await scene.note("value") { try await task.response }
        },
        Scenario("queue-of-one", configure: { $0.queue.running = 1 }) { scene in
            let (reached, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            scene.server.route(
                .get, "/a",
                [
                    .signal(reached), .waitForSignal(goOn),
                    .message(.init(200, fields: ["Content-Length": "1"], body: "a")),
                ])
            scene.server.route(.get, "/low", .response(body: "low"))
            scene.server.route(.get, "/high", .response(body: "high"))
            let first = try scene.session.task("a", as: .string)
            first.resume()
            try await reached.opened()
            let low = try scene.session.task("low", options: .init(priority: .low), as: .string)
            low.resume()
            try await scene.stage.eventually("it waits") { low.snapshot.phase == .pool }
            let high = try scene.session.task("high", options: .init(priority: .high), as: .string)
            high.resume()
            try await scene.stage.eventually("it waits too") { high.snapshot.phase == .pool }
            await scene.noteTasks("while they wait")
            goOn.open()
            await scene.note("first") { try await first.response.status }
            await scene.note("high") { try await high.response.status }
            await scene.note("low") { try await low.response.status }
        },
        Scenario("queue-cancelled-while-waiting", configure: { $0.queue.running = 1 }) { scene in
            let (reached, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            scene.server.enqueue([
                .signal(reached), .waitForSignal(goOn),
                .message(.init(200, fields: ["Content-Length": "1"], body: "a")),
            ])
            let first = try scene.session.task("a", as: .string)
            first.resume()
            try await reached.opened()
            let second = try scene.session.task("b", as: .string)
            second.resume()
            try await scene.stage.eventually("it waits") { second.snapshot.phase == .pool }
            second.cancel()
            await scene.note("second") { try await second.response }
            goOn.open()
            await scene.note("first") { try await first.response.status }
        },
        Scenario("after-another") { scene in
            scene.server.enqueue(.response(body: "one"), .response(body: "two"))
            let first = try scene.session.task("a", as: .string)
            var options = HTTPSession.Options()
            options.startsAfter = [first.id]
            let second = try scene.session.task("b", options: options, as: .string)
            second.resume()
            first.resume()
            await scene.note("second") { try await second.response.status }
            await scene.note("first") { try await first.response.status }
        },
        Scenario("batch") { scene in
            for target in ["a", "b", "c"] {
                scene.server.route(.get, "/\(target)", .response(target == "b" ? 404 : 200, body: "x"))
            }
            let batch = try scene.session.batch(
                [.init("a"), .init("b"), .init("c")], running: 1, as: .string)
            for result in await batch.results { await scene.note("result") { try result.get() } }
            let state = batch.state
            scene.transcript.note("state: \(state.finished) finished, \(state.failed) failed, \(state.total) in all")
        },
        Scenario("prewarmed") { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("prewarm") { try await scene.session.prewarm(1) }
            await scene.note("get") { try await scene.session.get("a", as: .bytes) }
        },
    ]

    /// How a session ends, and what becomes of its requests.
    static let endings: [Scenario] = [
        Scenario("shutdown-idle") { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("get") { try await scene.session.get("a", as: .bytes) }
            await scene.note("shutdown") { await scene.session.shutdown() }
            await scene.note("afterwards") { try await scene.session.get("b", as: .bytes) }
        },
        Scenario("shutdown-while-running") { scene in
            let reached = LoopbackServer.Gate()
            scene.server.enqueue([.signal(reached), .stall])
            let running = Task { await scene.note("get") { try await scene.session.get("a", as: .bytes) } }
            try await reached.opened()
            let cancelled = await scene.session.shutdown()
            await running.value
            scene.transcript.note("shutdown: \(cancelled)")
        },
        Scenario("shutdown-with-grace", hasManualClock: true) { scene in
            let (reached, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            scene.server.enqueue([
                .signal(reached), .waitForSignal(goOn),
                .message(.init(200, fields: ["Content-Length": "1"], body: "a")),
            ])
            let running = Task { await scene.note("get") { try await scene.session.get("a", as: .bytes) } }
            try await reached.opened()
            async let cancelled = scene.session.shutdown(grace: .seconds(10))
            try await scene.stage.eventually("it is closed") { scene.session.isShutDown }
            goOn.open()
            await running.value
            await scene.transcript.note("shutdown: \(cancelled)")
        },
        Scenario("restart") { scene in
            scene.server.enqueue(.response(body: "one"), .response(body: "two"))
            await scene.note("before") { try await scene.session.get("a", as: .bytes) }
            await scene.note("restart") { await scene.session.restart() }
            await scene.note("after") { try await scene.session.get("b", as: .bytes) }
        },
        Scenario("cancel-tagged") { scene in
            let (one, two) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            scene.server.route(.get, "/a", [.signal(one), .stall])
            scene.server.route(
                .get, "/b",
                [.waitForSignal(two), .message(.init(200, fields: ["Content-Length": "1"], body: "b"))])
            var options = HTTPSession.Options()
            options.tags = ["mark"]
            let tagged = try scene.session.task("a", options: options, as: .string)
            let other = try scene.session.task("b", as: .string)
            tagged.resume()
            try await one.opened()
            other.resume()
            _ = try await scene.server.waitForRequests(2)
            scene.transcript.note("cancelled: \(await scene.session.tasks.cancel(tagged: "mark"))")
            await scene.note("tagged") { try await tagged.response }
            two.open()
            await scene.note("other") { try await other.response }
        },
    ]
}
