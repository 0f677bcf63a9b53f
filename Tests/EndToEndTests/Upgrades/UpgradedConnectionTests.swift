import Dunlin
import DunlinTesting
import DunlinTypes
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Upgraded connections` {
    private static let silent = LoopbackServer.Reply.upgrade(to: "foo", .stall)

    @Test func `a hundred megabytes go both ways at once, and each side waits for the other`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .echo))
            let connection = try await stage.session.upgrade("x", to: "foo")
            let (count, piece) = (100 << 20, 1 << 20)
            async let writing: Void = {
                for start in stride(from: 0, to: count, by: piece) {
                    try await connection.write(LoopbackServer.GeneratedBody.bytes(start..<start + piece))
                }
                try await connection.finishWriting()
            }()
            var read = 0
            while let bytes = try await connection.read() {
                #expect(bytes == LoopbackServer.GeneratedBody.bytes(read..<read + bytes.count))
                read += bytes.count
            }
            try await writing
            #expect(read == count && !connection.isOpen)
        }
    }

    @Test func `an open connection does not keep the buffer into which the head of its 101 was read`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .drain))
            let connection = try await stage.session.upgrade("x", to: "foo")
            let bytes = connection.fields.bytes
            #expect(connection.fields["Upgrade"] == "foo")
            // An array has some room of its own to grow.
            #expect(bytes.count < 200 && bytes.capacity < 1024)
            try await connection.finishWriting()
            #expect(try await connection.read() == nil)
        }
    }

    @Test func `a write waits while nobody reads what the peer sends back`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .echo))
            let connection = try await stage.session.upgrade("x", to: "foo")
            let written = Atomic(0)
            let writing = Task {
                while true {
                    try await connection.write(Bytes([UInt8](repeating: 7, count: 1 << 20)))
                    written.add(1 << 20, ordering: .relaxed)
                }
            }
            // The server stands still because its own sends are not read.
            try await stage.server.wait { $0.blockedSends > 0 }
            connection.close()
            let outcome = await writing.result
            #expect(throws: NetworkError.self) { try outcome.get() }
            #expect(written.load(ordering: .relaxed) < 64 << 20)
        }
    }

    @Test(arguments: [true, false])
    func `a direction that ends leaves the other open`(clientIsFirst: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(
                clientIsFirst
                    ? .upgrade(to: "foo", .expect("a"), .drain, .send("b"))
                    : .upgrade(to: "foo", .send("b"), .halfClose, .expect("a"), .drain))
            let connection = try await stage.session.upgrade("x", to: "foo")
            if !clientIsFirst {
                #expect(try await connection.read() == "b")
                #expect(try await connection.read() == nil)
                #expect(connection.isOpen)
            }
            try await connection.write("a")
            try await connection.finishWriting()
            try await connection.finishWriting()
            if clientIsFirst { #expect(try await connection.readAll() == "b") }
            #expect(!connection.isOpen)
            let late = try await NetworkError.thrown { try await connection.write("c") }
            #expect(late.code == .connectionClosed)
            #expect(try await connection.read() == nil)
        }
    }

    @Test func `a peer that goes in the middle is an error of whoever reads, and of nobody twice`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .send("a"), .expect("b"), .reset))
            let connection = try await stage.session.upgrade("x", to: "foo")
            #expect(try await connection.read() == "a")
            try await connection.write("b")
            let error = try await NetworkError.thrown { _ = try await connection.read() }
            #expect(error.code == .connectionClosed && !error.isSafeToRetry, "\(error)")
            #expect(error.request?.url.hasSuffix("/x") == true && !connection.isOpen)
            try await stage.server.wait { $0.open == 0 }
            try await stage.expectHealthy()
        }
    }

    @Test func `what a peer said before it took nothing more can be read after a write has failed`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let (here, go) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            stage.server.enqueue(.upgrade(to: "foo", .signal(here), .waitForSignal(go), .send("why"), .reset))
            let connection = try await stage.session.upgrade("x", to: "foo")
            try await here.opened()
            go.open()
            try await stage.server.wait { $0.open == 0 }
            for _ in 0..<2 {
                let error = try await NetworkError.thrown { while true { try await connection.write("a") } }
                #expect(error.code == .connectionClosed && connection.isOpen, "\(error)")
            }
            #expect(try await connection.read() == "why")
            do { #expect(try await connection.read() == nil) } catch {}
            #expect(!connection.isOpen)
            try await stage.eventually("the request is over") { await stage.session.tasks.all.isEmpty }
        }
    }

    @Test func `an end that TLS has not announced is no end`() async throws {
        guard Stage.isSecure else { return }
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .send("a"), .cut))
            let connection = try await stage.session.upgrade("x", to: "foo")
            #expect(try await connection.read() == "a")
            let error = try await NetworkError.thrown { _ = try await connection.read() }
            #expect(error.code == .connectionClosed)
        }
    }

    @Test func `a second reader is refused, and harms nothing`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let go = LoopbackServer.Gate()
            stage.server.enqueue(.upgrade(to: "foo", .waitForSignal(go), .send("a"), .drain))
            let connection = try await stage.session.upgrade("x", to: "foo")
            let outcomes = AsyncStream.makeStream(of: String.self)
            // Whoever comes second is refused at once; the first waits until the gate is open.
            for _ in 0..<2 {
                Task {
                    do {
                        outcomes.continuation.yield("\(try await connection.read() == "a")")
                    } catch {
                        outcomes.continuation.yield("\((error as? NetworkError)?.code.rawValue ?? "")")
                    }
                }
            }
            var outcome = outcomes.stream.makeAsyncIterator()
            #expect(await outcome.next() == "bodyConsumed")
            go.open()
            #expect(await outcome.next() == "true")
            #expect(connection.isOpen)
            connection.close()
        }
    }
}

// MARK: - The end

extension `Upgraded connections` {
    enum Wait: CaseIterable { case head, reading, writing }

    @Test(arguments: Wait.allCases)
    func `cancelling the task that waits closes the connection at once`(wait: Wait) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let (here, go) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            // The end of a connection comes behind what was written, so the server reads once it is cancelled.
            stage.server.enqueue(
                wait == .head
                    ? [.signal(here), .stall] : .upgrade(to: "foo", .signal(here), .waitForSignal(go), .drain))
            let task = Task {
                let connection = try await stage.session.upgrade("x", to: "foo")
                if wait == .reading { _ = try await connection.read() }
                while true { try await connection.write(Bytes([UInt8](repeating: 1, count: 1 << 20))) }
            }
            try await here.opened()
            task.cancel()
            let outcome = await task.result
            #expect(throws: CancellationError.self) { try outcome.get() }
            go.open()
            try await stage.server.wait { $0.open == 0 }
            try await stage.eventually("the request is over") { await stage.session.tasks.all.isEmpty }
        }
    }

    @Test func `cancelling the reader is an error of the writer, and is not its cancellation`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let (here, go) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            stage.server.enqueue(.upgrade(to: "foo", .signal(here), .waitForSignal(go), .drain))
            let connection = try await stage.session.upgrade("x", to: "foo")
            let reader = Task { try await connection.read() }
            async let writing = NetworkError.thrown {
                while true { try await connection.write(Bytes([UInt8](repeating: 1, count: 1 << 20))) }
            }
            try await here.opened()
            reader.cancel()
            let outcome = await reader.result
            #expect(throws: CancellationError.self) { try outcome.get() }
            #expect(try await writing.code == .cancelled)
            go.open()
            try await stage.server.wait { $0.open == 0 }
        }
    }

    @Test func `an open connection is a running request, and cancelling that closes it`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(Self.silent)
            let connection = try await stage.session.upgrade(
                "x", to: "foo", options: .init(label: "chat", tags: ["live"]))
            let running = await stage.session.tasks.all
            #expect(running.map(\.kind) == [.upgrade] && running.first?.label == "chat")
            async let reading = NetworkError.thrown { _ = try await connection.read() }
            _ = await stage.session.tasks.cancel(tagged: "live")
            let error = try await reading
            #expect(error.code == .cancelled, "\(error)")
            try await stage.server.wait { $0.open == 0 }
            #expect(!connection.isOpen)
        }
    }

    @Test func `releasing the connection closes it and ends its request`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(Self.silent)
            do { _ = try await stage.session.upgrade("x", to: "foo") }
            try await stage.server.wait { $0.open == 0 }
            try await stage.eventually("the request is over") { await stage.session.tasks.all.isEmpty }
            #expect(stage.session.connections.open == 0)
        }
    }

    /// Opens a connection, and suspends its request.
    private static func suspended(_ stage: Stage) async throws -> (HTTPSession.UpgradedConnection, TaskDelegate) {
        let connection = try await stage.session.upgrade("x", to: "foo")
        let id = try #require(await stage.session.tasks.all.first?.id)
        let delegate = try #require(await stage.session.tasks[id])
        #expect(delegate.suspend())
        return (connection, delegate)
    }

    @Test func `a suspended connection is neither read nor written`() async throws {
        // What nobody observes cannot be suspended.
        try await Stage.with(configure: { $0.hooks.completed = { _ in } }) { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .echo))
            let (connection, delegate) = try await Self.suspended(stage)
            let before = connection.metrics.hops.last?.bytesSent
            async let writing: Void = connection.write("b")
            async let reading = connection.read()
            try await stage.expectHealthy()
            #expect(connection.metrics.hops.last?.bytesSent == before)
            #expect(delegate.resume())
            try await writing
            #expect(try await reading == "b")
            connection.close()
        }
    }

    enum Move: CaseIterable, Sendable {
        case write, read, finish

        func make(_ connection: HTTPSession.UpgradedConnection) async throws {
            switch self {
            case .write: try await connection.write("b")
            case .read: _ = try await connection.read()
            case .finish: try await connection.finishWriting()
            }
        }
    }

    /// Who cancels has not resumed.
    @Test(arguments: Move.allCases)
    func `a suspended connection is neither read nor written when the task that waits for it is cancelled`(
        move: Move
    ) async throws {
        for _ in 1...10 {
            try await Stage.with(tolerating: true, configure: { $0.hooks.completed = { _ in } }) {
                (stage: Stage) async throws in
                let speak = LoopbackServer.Gate()
                stage.server.enqueue(.upgrade(to: "foo", .waitForSignal(speak), .send("unheard"), .stall))
                let (connection, _) = try await Self.suspended(stage)
                let before = try #require(connection.metrics.hops.last)
                let moving = Task { try await move.make(connection) }
                speak.open()
                try await stage.expectHealthy()
                moving.cancel()
                await #expect(throws: (any Error).self) { try await moving.value }
                let after = try #require(connection.metrics.hops.last)
                #expect(after.bytesSent == before.bytesSent && after.bodyBytes == before.bodyBytes)
            }
        }
    }

    @Test func `a suspended connection does not end its writing`() async throws {
        try await Stage.with(configure: { $0.hooks.completed = { _ in } }) { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .echo))
            let (connection, delegate) = try await Self.suspended(stage)
            let isOver = Atomic(false)
            async let finishing: Void = {
                try await connection.finishWriting()
                isOver.store(true, ordering: .relaxed)
            }()
            try await stage.expectHealthy()
            #expect(isOver.load(ordering: .relaxed) == false)
            #expect(delegate.resume())
            try await finishing
            #expect(try await connection.read() == nil)
            connection.close()
        }
    }

    @Test func `it counts against the limits of connections while it is open`() async throws {
        try await Stage.with(tolerating: true, configure: { $0.connections.perOrigin = 1 }) {
            (stage: Stage) async throws in
            stage.server.route(.get, "/x", Self.silent)
            stage.server.route(.get, "/y", .response(body: "y"))
            let connection = try await stage.session.upgrade("x", to: "foo")
            async let other = stage.session.get("y", as: .string).value
            try await stage.eventually("the other waits") { stage.session.connections.waiting == 1 }
            #expect(stage.server.connectionCount == 1)
            connection.close()
            #expect(try await other == "y")
        }
    }

    @Test func `a shutdown waits for it within the grace, then closes it`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(Self.silent)
            let connection = try await stage.session.upgrade("x", to: "foo")
            _ = await stage.session.shutdown(grace: .milliseconds(50))
            #expect(!connection.isOpen)
            let error = try await NetworkError.thrown { _ = try await connection.read() }
            #expect(error.code == .cancelled || error.code == .sessionShutDown, "\(error)")
            try await stage.server.wait { $0.open == 0 }
        }
    }

    @Test func `a shutdown with grace lets it end by itself`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .echo))
            let connection = try await stage.session.upgrade("x", to: "foo")
            async let ended = stage.session.shutdown(grace: .seconds(1000))
            try await connection.write("a")
            #expect(try await connection.read() == "a")
            try await connection.finishWriting()
            #expect(try await connection.read() == nil)
            _ = await ended
        }
    }

    @Test func `the limits of the request end with the 101, and only silence counts after it`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            stage.server.route(.get, "/x", .upgrade(to: "foo", .expect("a"), .send("b"), .stall))
            let timeouts = HTTPSession.RequestTimeouts(send: .seconds(1), readIdle: .seconds(1), total: .seconds(5))
            let connection = try await stage.session.upgrade(
                "x", to: "foo", silence: .seconds(60), options: .init(timeouts: timeouts))
            try await clock.advance(by: .seconds(50))
            try await connection.write("a")
            #expect(try await connection.read() == "b")
            async let reading = NetworkError.thrown { _ = try await connection.read() }
            try await clock.waitForDeadlines(1)
            try await clock.advance(by: .seconds(61))
            let error = try await reading
            #expect(error.code == .timedOut && error.limit == .seconds(60), "\(error)")
            try await stage.server.wait { $0.open == 0 }
        }
    }

    @Test func `a server that never answers is waited for as any other`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            let here = LoopbackServer.Gate()
            stage.server.enqueue([.signal(here), .stall])
            async let failing = stage.upgradeFailure(options: .init(timeouts: .init(firstByte: .seconds(7))))
            try await here.opened()
            try await clock.waitForDeadlines(1)
            try await clock.advance(by: .seconds(8))
            let error = try await failing
            #expect(error.code == .timedOut && error.exceeded == .firstByte)
            try await stage.server.wait { $0.open == 0 }
        }
    }
}
