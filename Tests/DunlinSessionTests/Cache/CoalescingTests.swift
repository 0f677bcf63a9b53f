import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Requests that are sent as one` {
    /// Whoever waits for it goes on when it opens, or is cancelled.
    private struct Gate: Sendable {
        private let opened = Settlement<Void>()

        func open() { opened.settle(()) }

        /// False if it was cancelled.
        func wait() async -> Bool {
            let ended = Settlement<Void>()
            opened.whenSettled { ended.settle(()) }
            await withTaskCancellationHandler {
                await ended.value
            } onCancel: {
                ended.settle(())
            }
            return !Task.isCancelled
        }
    }

    /// A session that coalesces, over a transport that answers when `gate` opens.
    private struct Shared {
        let transport = MockTransport()
        let session: HTTPSession
        let gate = Gate()

        init(_ outcome: MockTransport.Outcome, _ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws {
            let number = Atomic(0)
            try self.init(
                { _ in
                    let number = number.add(1, ordering: .relaxed).newValue
                    return number == 1 ? outcome : .respond(body: Bytes("number \(number)".utf8))
                }, change)
        }

        init(
            _ outcome: @escaping @Sendable (MockTransport.RecordedRequest) -> MockTransport.Outcome,
            _ change: (inout HTTPSession.Configuration) -> Void = { _ in }
        ) throws {
            transport.otherwise { [gate] request in
                await gate.wait() ? outcome(request) : .fail(CancellationError())
            }
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.coalescing.isOn = true
            change(&configuration)
            session = try HTTPSession(configuration)
        }

        /// As many tasks, of which the first has been sent and the others wait for it.
        func tasks(
            _ count: Int, sent: Int = 1, _ get: @escaping @Sendable (HTTPSession, Int) async throws -> String
        ) async throws -> [Task<String, any Error>] {
            var tasks: [Task<String, any Error>] = []
            for number in 0..<count {
                tasks.append(Task { [session] in try await get(session, number) })
                try await transport.waitForRequests(min(number + 1, sent))
            }
            try await eventually("all of them wait", following: transport) {
                await session.gauges().coalesced == count - sent && transport.requests.count == sent
            }
            return tasks
        }
    }

    private static let get: @Sendable (HTTPSession, Int) async throws -> String = { session, _ in
        try await session.get("/a", as: .string).value
    }

    @Test(arguments: [
        MockTransport.Outcome.respond(body: "abcdef"), .stream(["abc", "def"], length: 6), .stream(["abc", "def"]),
    ])
    func `those that are alike get one response`(outcome: MockTransport.Outcome) async throws {
        let shared = try Shared(outcome)
        let tasks = try await shared.tasks(20, Self.get)
        shared.gate.open()
        for task in tasks { #expect(try await task.value == "abcdef") }
        #expect(shared.transport.requests.count == 1)
        #expect(await shared.session.gauges().coalesced == 0)
        #expect(try await Self.get(shared.session, 0) == "number 2")
    }

    @Test func `those that differ are sent by themselves`() async throws {
        let shared = try Shared({ request in .respond(body: Bytes(request.fields["x-n"]?.utf8 ?? "-".utf8)) })
        let options: [HTTPSession.Options] = [
            .init(), .init(fields: ["X-N": "1"]), .init(fields: ["X-N": "2"]), .init(cacheMode: .off),
            .init(credentials: .value(.basic(user: "a", password: "b"))), .init(coalesces: false),
        ]
        let tasks = try await shared.tasks(options.count, sent: options.count) { session, number in
            try await session.get("/a", options: options[number], as: .string).value
        }
        shared.gate.open()
        var bodies: [String] = []
        for task in tasks { bodies.append(try await task.value) }
        #expect(bodies == ["-", "1", "2", "-", "-", "-"])
    }

    @Test func `what is not asked for with GET is sent every time`() async throws {
        let shared = try Shared({ _ in .respond(body: "1") })
        let tasks = try await shared.tasks(3, sent: 3) { session, _ in
            try await session.post("/a", as: .string).value
        }
        shared.gate.open()
        for task in tasks { #expect(try await task.value == "1") }
    }

    @Test func `an error of the network is everybody's`() async throws {
        let shared = try Shared(.fail(.connectionRefused))
        let tasks = try await shared.tasks(5, Self.get)
        shared.gate.open()
        for task in tasks {
            let error = await #expect(throws: NetworkError.self) { _ = try await task.value }
            #expect(error?.code == .connectionFailed)
        }
        #expect(shared.transport.requests.count == 1)
    }

    @Test func `when the one that was sent is cancelled, another is sent, and the rest wait for that`() async throws {
        let shared = try Shared({ _ in .respond(body: "well") })
        let tasks = try await shared.tasks(5, Self.get)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { _ = try await tasks[0].value }
        try await shared.transport.waitForRequests(2)
        try await eventually("three wait", following: shared.transport) {
            await shared.session.gauges().coalesced == 3
        }
        shared.gate.open()
        for task in tasks.dropFirst() { #expect(try await task.value == "well") }
        #expect(shared.transport.requests.count == 2)
    }

    @Test func `one that waits may be cancelled, and leaves the others alone`() async throws {
        let shared = try Shared(.respond(body: "well"))
        let tasks = try await shared.tasks(3, Self.get)
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { _ = try await tasks[1].value }
        shared.gate.open()
        #expect(try await tasks[0].value == "well")
        #expect(try await tasks[2].value == "well" && shared.transport.requests.count == 1)
    }

    @Test func `a stream is sent by itself, so that a slow reader holds up nobody`() async throws {
        let shared = try Shared({ _ in .stream(["abc", "def"]) })
        shared.gate.open()
        let (read, mayRead) = (Settlement<Void>(), Settlement<Void>())
        let slow = Task { [session = shared.session] in
            try await session.withResponse(from: "/a") { response in
                read.settle(())
                await mayRead.value
                var text = ""
                for try await piece in response.body { text += String(decoding: piece.array, as: UTF8.self) }
                return text
            }
        }
        await read.value
        #expect(try await Self.get(shared.session, 1) == "abcdef")
        mayRead.settle(())
        #expect(try await slow.value == "abcdef" && shared.transport.requests.count == 2)
    }

    @Test func `a request after a change of its URL does not get an earlier request's response`()
        async throws
    {
        let first = Gate()
        let number = Atomic(0)
        let shared = try Shared({ request in
            request.method == .get
                ? .respond(body: Bytes("number \(number.add(1, ordering: .relaxed).newValue)".utf8)) : .respond(204)
        })
        shared.gate.open()
        shared.transport.on(.get, "/a").reply(
            .stream(length: 3) { index in
                if index == 0 { _ = await first.wait() }
                return index == 0 ? "old" : nil
            })
        let before = Task { [session = shared.session] in try await Self.get(session, 0) }
        try await shared.transport.waitForRequests(1)
        _ = try await shared.session.put("/a", as: .bytes)
        #expect(try await Self.get(shared.session, 1) == "number 1")
        first.open()
        #expect(try await before.value == "old")
    }

    @Test(arguments: [9, nil]) func `a body that is too long is the first one's alone`(length: Int?) async throws {
        let shared = try Shared(.stream(["abc", "def", "ghi"], length: length)) { $0.coalescing.largestBody = 5 }
        let tasks = try await shared.tasks(3, Self.get)
        shared.gate.open()
        #expect(try await tasks[0].value == "abcdefghi")
        var others: Set<String> = []
        for task in tasks.dropFirst() { others.insert(try await task.value) }
        #expect(others == ["number 2", "number 3"])
    }

    /// Brings one byte at a time.
    private final class Drip: TransportResponse.BodyStream {
        private let left: Atomic<Int>
        let expectedLength: Int? = nil
        let trailers = Fields()
        let hop = HTTP.Hop()

        init(_ count: Int) { left = Atomic(count) }

        func next() async throws -> Bytes? { left.subtract(1, ordering: .relaxed).newValue < 0 ? nil : "x" }
    }

    @Test(arguments: [0, 1, 5, 6, 1000]) func `what comes in small pieces is kept as one`(count: Int) async throws {
        let (stream, limit) = (Drip(count), 5)
        switch try await BegunBody.collected(stream, upTo: limit, { try await stream.next() }) {
        case .bytes(let whole): #expect(count <= limit && whole.count == count)
        case .stream(let begun):
            #expect(try await begun.next()?.count == limit + 1)
            var rest = 0
            while let piece = try await begun.next() { rest += piece.count }
            #expect(count > limit && rest == count - limit - 1)
        }
    }

    @Test func `a body that breaks off is an error like another`() async throws {
        let shared = try Shared(.stream(["abc"], length: 9, failing: NetworkError(.connectionClosed, "gone")))
        let tasks = try await shared.tasks(3, Self.get)
        shared.gate.open()
        for task in tasks {
            let error = await #expect(throws: NetworkError.self) { _ = try await task.value }
            #expect(error?.code == .connectionClosed)
        }
        #expect(shared.transport.requests.count == 1)
    }

    @Test func `the shared response is stored once, and says that it was shared`() async throws {
        let store = MapStore(isAtHand: true)
        let shared = try Shared(.respond(fields: ["Cache-Control": "max-age=60"], body: "1")) { configuration in
            configuration.cache = HTTPSession.Cache(store)
        }
        let uses = Mutex<[String]>([])
        let tasks = try await shared.tasks(3) { session, _ in
            let response = try await session.get("/a", as: .string)
            uses.withLock { $0.append(response.cacheUse?.status ?? "") }
            return response.value
        }
        shared.gate.open()
        for task in tasks { #expect(try await task.value == "1") }
        #expect(uses.withLock { $0.count { $0.hasSuffix("; collapsed") } } == 2)
        #expect(store.all.count == 1 && shared.transport.requests.count == 1)
    }
}
