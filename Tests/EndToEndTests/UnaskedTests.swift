import Dunlin
import DunlinTesting
import Glibc
import LedgerRows
import Synchronization
import Testing

/// What a server sends on a connection that nobody has asked anything on. A loop that computes hears nothing of it, and
/// whoever is lent the connection next must not take it for an answer, nor fail by it.
///
/// Over sockets of one machine's own, where what was sent is there: over TCP the kernel may take its time.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `What comes unasked while the loop computes` {
    typealias Step = LoopbackServer.Step
    typealias Gate = LoopbackServer.Gate

    enum Unasked: CaseIterable {
        case answer, staleTimeout, beginningOfRecord, end

        var step: Step {
            switch self {
            case .answer: .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad")
            case .staleTimeout: .send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            // Of a TLS record, that is; in clear text just bytes.
            case .beginningOfRecord: .outsideTLS([0x17, 3, 3, 0, 80, 1, 2, 3])
            case .end: .halfClose
            }
        }
    }

    /// How often each is tried here; with 700, twenty-two thousand in all, none was seen to fail either.
    private static let attempts = 40

    /// One answer, and what comes after it once it is told.
    private struct Scene {
        let told = Gate()
        let sent = Gate()

        func reply(_ unasked: Unasked, _ first: Step...) -> LoopbackServer.Reply {
            var reply = LoopbackServer.Reply.response(body: "x")
            for step in first { reply = reply.after(step) }
            return reply.then(.waitForSignal(told), unasked.step, .signal(sent), .stall)
        }

        /// Holds this thread until it has come, and longer than a look is good for.
        func compute(and longer: Duration = .microseconds(200)) {
            let start = ContinuousClock.now
            while !sent.isOpen, ContinuousClock.now < start + .seconds(20) { sched_yield() }
            let seen = ContinuousClock.now
            while ContinuousClock.now < seen + longer {}
        }
    }

    @Test(.rules("9110-15.5.9-1", "9112-9.2-1", "9112-11-2"), arguments: Unasked.allCases)
    func `what comes unasked is no answer to the next request of whoever computes on the loop`(unasked: Unasked)
        async throws
    {
        try await Stage.with(.abstract, oneLoop: true) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "good") }
            let session = stage.session
            for count in 1...Self.attempts {
                let scene = Scene()
                stage.server.enqueue(scene.reply(unasked))
                try await session.onEventLoop { @concurrent () async throws in
                    #expect(try await session.post("first", body: .string("a"), as: .string).value == "x")
                    scene.told.open()
                    scene.compute()
                    #expect(try await session.post("second", body: .string("b"), as: .string).value == "good")
                }
                #expect(stage.server.connectionCount == count + 1)
            }
        }
    }

    /// The loop has polled since the connection came back, and is busy when the next request comes.
    @Test(arguments: Unasked.allCases)
    func `what comes unasked is no answer to a request made while the loop computes`(unasked: Unasked) async throws {
        try await Stage.with(.abstract, oneLoop: true) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "good") }
            let session = stage.session
            for _ in 0..<Self.attempts {
                let (scene, isBusy) = (Scene(), Gate())
                stage.server.enqueue(scene.reply(unasked))
                #expect(try await session.post("first", body: .string("a"), as: .string).value == "x")
                async let computing: Void = session.onEventLoop { @concurrent () async throws in
                    isBusy.open()
                    // Long enough for the request to begin meanwhile.
                    scene.compute(and: .milliseconds(2))
                }
                try await isBusy.opened()
                scene.told.open()
                try await scene.sent.opened()
                #expect(try await session.post("second", body: .string("b"), as: .string).value == "good")
                try await computing
            }
        }
    }

    @Test(arguments: Unasked.allCases)
    func `what comes unasked is no answer to a request that waits for the connection`(unasked: Unasked) async throws {
        try await Stage.with(.abstract, oneLoop: true, configure: { $0.connections.perOrigin = 1 }) {
            (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "good") }
            let session = stage.session
            for count in 1...Self.attempts {
                let (scene, isInLine) = (Scene(), Gate())
                stage.server.enqueue(scene.reply(unasked, .waitForSignal(isInLine)))
                async let first: Void = session.onEventLoop { @concurrent () async throws in
                    #expect(try await session.post("first", body: .string("a"), as: .string).value == "x")
                    scene.told.open()
                    scene.compute()
                }
                _ = try await stage.server.waitForRequests(2 * count - 1)
                async let second = session.post("second", body: .string("b"), as: .string).value
                try await stage.eventually("the second waits") { session.connections.waiting == 1 }
                isInLine.open()
                try await first
                #expect(try await second == "good")
            }
        }
    }

    /// The connection lives on one loop, which computes, and is lent on another.
    @Test(arguments: Unasked.allCases)
    func `what comes unasked is no answer to a request on another loop`(unasked: Unasked) async throws {
        let server = try Stage.makeServer(.abstract)
        defer { server.stop() }
        server.respond { _ in .response(body: "good") }
        let loops = try (0..<4).map { _ in try PrivateLoop() }
        for _ in 0..<Self.attempts {
            var configuration = try Stage.configuration(for: server)
            configuration.use(loops[0], loops[1], loops[2], loops[3])
            configuration.connections.perOrigin = 1
            // A session's requests take turns with its loops: of a new one the first are on the first and the second.
            let (session, scene) = (try HTTPSession(configuration), Scene())
            server.enqueue(scene.reply(unasked))
            async let first: Void = session.onEventLoop { @concurrent () async throws in
                #expect(try await session.post("first", body: .string("a"), as: .string).value == "x")
                scene.told.open()
                scene.compute(and: .milliseconds(2))
            }
            try await scene.sent.opened()
            #expect(try await session.post("second", body: .string("b"), as: .string).value == "good")
            try await first
            await session.shutdown()
        }
        for loop in loops { try await loop.verifyNothingLeft() }
    }
}
