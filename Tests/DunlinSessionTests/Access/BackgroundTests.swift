import Dunlin
import DunlinCache
import DunlinRules
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `What a session asks for itself` {
    /// A machine that expectations may change.
    private final class Machine {
        private var machine: BackgroundMachine<String, Int>

        init(_ limits: BackgroundMachine<String, Int>.Limits) {
            machine = BackgroundMachine(limits)
        }

        func mayBegin(_ key: String) -> Bool { machine.mayBegin(key) }
        func begin(_ key: String, _ call: Int) -> BackgroundMachine<String, Int>.Refusal? { machine.begin(key, call) }
        func received(_ count: Int, _ key: String) -> Bool { machine.received(count, key) }
        func end(_ key: String) { machine.end(key) }
        func close(_ closing: UInt64) -> Set<Int> { machine.close(closing) }
        func reopen(after closing: UInt64) { machine.reopen(after: closing) }
    }

    @Test func `background requests run once for each key, and a limited number at a time`() {
        let machine = Machine(.init(calls: 2, bytes: 10))
        #expect(machine.begin("a", 1) == nil)
        #expect(!machine.mayBegin("a") && machine.begin("a", 2) == .sameKey)
        #expect(machine.begin("b", 3) == nil)
        #expect(!machine.mayBegin("c") && machine.begin("c", 4) == .full)
        machine.end("a")
        #expect(machine.begin("c", 4) == nil)
        #expect(machine.close(1) == [3, 4])
        machine.end("b")
        #expect(machine.begin("d", 5) == .closed)
        machine.reopen(after: 1)
        #expect(machine.begin("d", 5) == nil)
    }

    @Test func `a closing that a later one overtook closes nothing, and a reopening does not undo a later closing`() {
        let machine = Machine(.init(calls: 2, bytes: 10))
        #expect(machine.begin("a", 1) == nil)
        #expect(machine.close(2) == [1])
        machine.reopen(after: 2)
        #expect(machine.close(1) == [1])
        #expect(machine.begin("b", 2) == nil)
        #expect(machine.close(4) == [1, 2])
        machine.end("a")
        machine.reopen(after: 3)
        #expect(machine.begin("c", 3) == .closed)
        machine.reopen(after: 4)
        #expect(machine.begin("c", 3) == nil)
    }

    @Test func `the background requests that run have one limit of bytes together`() {
        let machine = Machine(.init(calls: 3, bytes: 10))
        for (call, key) in ["a", "b"].enumerated() { #expect(machine.begin(key, call) == nil) }
        #expect(machine.received(6, "a"))
        #expect(machine.received(4, "b"))
        #expect(!machine.received(1, "b"))
        #expect(!machine.received(.max, "a"))
        machine.end("a")
        #expect(machine.received(6, "b"))
        #expect(!machine.received(1, "b"))
        #expect(!machine.received(0, "a"))
    }

    @Test(.timeLimit(.minutes(10))) func `a user's background request keeps nobody else's from being made`()
        async throws
    {
        let stage = try CachedStage()
        let gate = LoopbackServer.Gate()
        let asked = Mutex(Set<String>())
        stage.transport.otherwise { request in
            let user = request.fields["authorization"] ?? ""
            let isFirst = asked.withLock { $0.insert(user).inserted }
            if user == "ann", !isFirst { try await gate.opened() }
            let fields: Fields = ["Cache-Control": "private, max-age=0, stale-while-revalidate=1000"]
            return .respond(fields: fields, body: Bytes(user))
        }
        for sent in [1, 3] {
            for (index, user) in ["ann", "bob"].enumerated() {
                #expect(try await stage.get("/a", .session, ["Authorization": user]).value == user)
                try await stage.transport.waitForRequests(sent + index)
            }
        }
        gate.open()
        await stage.session.shutdown(grace: .seconds(1000))
    }

    @TaskLocal private static var token = "nobody"

    @Test func `what an interceptor knows by the caller's task is asked for by the caller`() async throws {
        let stage = try CachedStage { configuration in
            configuration.interceptors = [
                .exchange { request, next in
                    try await next(request) { $0.head.fields["Authorization"] = "Bearer \(Self.token)" }
                }
            ]
        }
        stage.transport.otherwise { request in
            .respond(fields: Self.stale, body: Bytes((request.fields["authorization"] ?? "").utf8))
        }
        for _ in 1...3 {
            let body = try await Self.$token.withValue("alice") { () async throws in try await stage.get().value }
            #expect(body == "Bearer alice")
        }
        await stage.session.shutdown()
        #expect(Set(stage.sent.map { $0.fields["authorization"] }) == ["Bearer alice"])
    }

    private static let stale: Fields = ["Cache-Control": "max-age=0, stale-while-revalidate=1000"]

    /// How many pieces of a body without an end are read when the session asks about what is stored.
    private func piecesRead(
        limit: HTTPSession.PerRequest<Int>, length: Int? = nil, piece: Int = 1000
    ) async throws -> Int {
        let stage = try CachedStage()
        let read = Atomic(0)
        let outcome = MockTransport.Outcome.stream(fields: Self.stale, length: length) { _ in
            read.add(1, ordering: .relaxed)
            return Bytes(Array(repeating: 0x61, count: piece))
        }
        stage.transport.on(.get, "/a").respond(fields: Self.stale, body: "old").reply(outcome)
        let options = HTTPSession.Options(bodyLimit: limit)
        for _ in 1...2 {
            #expect(try await stage.session.get("/a", options: options, as: .string).value == "old")
        }
        await stage.session.shutdown(grace: .seconds(1000))
        #expect(!stage.store.all.contains { $0.body.count > 3 })
        return read.load(ordering: .relaxed)
    }

    @Test(.timeLimit(.minutes(10))) func `a background request has the body limit of the request that it belongs to`()
        async throws
    {
        #expect(try await piecesRead(limit: 10_000) == 11)
        #expect(try await piecesRead(limit: 10_000, length: 10_001) == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a background request without a body limit has that of all background requests together`()
        async throws
    {
        #expect(try await piecesRead(limit: .none, piece: 1 << 20) == 65)
    }
}
