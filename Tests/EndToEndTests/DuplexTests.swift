import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// Requests and responses at the same time.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Both directions at once` {

    /// Pieces that wait for a permit each, and say how many were made.
    final class Producer: Sendable {
        let made = Atomic<Int>(0)
        let permits = AsyncStream.makeStream(of: Bytes.self)

        var body: RequestBody { .stream(Chunks(producer: self)) }

        struct Chunks: AsyncSequence {
            let producer: Producer
            func makeAsyncIterator() -> Iterator {
                Iterator(producer: producer, permits: producer.permits.stream.makeAsyncIterator())
            }

            struct Iterator: AsyncIteratorProtocol {
                let producer: Producer
                var permits: AsyncStream<Bytes>.Iterator
                mutating func next() async throws -> Bytes? {
                    producer.made.add(1, ordering: .relaxed)
                    return await permits.next(isolation: #isolation)
                }
            }
        }
    }

    struct Repeated: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let piece: Bytes
        var left: Int

        func makeAsyncIterator() -> Self { self }

        mutating func next() async throws -> Bytes? {
            left -= 1
            return left < 0 ? nil : piece
        }
    }

    static let head: LoopbackServer.Step = .message(.init(.ok, fields: ["Transfer-Encoding": "chunked"]))

    @Test func `a response can be read before the request's body has been sent whole`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(
                LoopbackServer.Reply([Self.head, .send("1\r\na\r\n"), .send("0\r\n\r\n")]).beforeBody)
            let producer = Producer()
            try await stage.session.withResponse(from: "echo", method: .post, body: producer.body) { response in
                var pieces = response.body.makeAsyncIterator()
                let first = try await pieces.next()
                #expect(first == "a")
                producer.permits.continuation.yield("a was seen")
                producer.permits.continuation.finish()
                let end = try await pieces.next()
                #expect(end == nil)
            }
            try await stage.eventually("the request") { stage.server.requests.first?.isComplete == true }
            #expect(stage.server.requests.first?.body == "a was seen")
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1, "both ended well: the connection is kept")
        }
    }

    /// The server sends far more than buffers hold before it reads the request.
    @Test(arguments: [true, false])
    func `neither the request nor the response waits for the other's end`(whole: Bool) async throws {
        var small = LoopbackServer.Configuration()
        (small.sendBuffer, small.receiveBuffer) = (64 << 10, 64 << 10)
        try await Stage.with(server: small) { (stage: Stage) async throws in
            let count = 8 << 20
            let zeros = Bytes([UInt8](repeating: 0, count: count))
            stage.server.enqueue(.response(body: zeros).beforeBody)
            let body = RequestBody.stream(Repeated(piece: zeros[0..<(64 << 10)], left: count >> 16))
            if whole {
                #expect(try await stage.session.post("swap", body: body, as: .bytes).value.count == count)
            } else {
                let received = try await stage.session.withResponse(from: "swap", method: .post, body: body) {
                    try await $0.body.reduce(0) { $0 + $1.count }
                }
                #expect(received == count)
            }
            try await stage.eventually("the request") { stage.server.requests.first?.isComplete == true }
            #expect(stage.server.requests.first?.bodyCount == count)
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    /// The reader's own wait and the call's limit end at the same time; whichever is first, the reason is one.
    @Test(arguments: [true, false], 1...10)
    func `the reader of a stream whose time is up is told so, also while its request is being sent`(
        isSending: Bool, turn: Int
    ) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) {
            $0.timeouts = .none
            $0.timeouts.total = .seconds(5)
        } _: { (stage: Stage) async throws in
            let reply = LoopbackServer.Reply([Self.head, .send("1\r\na\r\n"), .stall])
            stage.server.enqueue(isSending ? reply.beforeBody : reply)
            let body = isSending ? Producer().body : .bytes("whole")
            let response = try await stage.session.stream("echo", method: .post, body: body)
            var pieces = response.body.makeAsyncIterator()
            #expect(try await pieces.next() == "a")
            async let failure = NetworkError.thrown { _ = try await pieces.next() }
            try await clock.waitForDeadlines(2)
            try await clock.advance(by: .seconds(5))
            let error = try await failure
            #expect(error.code == .timedOut && error.exceeded == .total && error.limit == .seconds(5), "\(error)")
            try await stage.expectHealthy()
        }
    }

    @Test func `the sending of a request's body ends with the scope of its stream`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(LoopbackServer.Reply([Self.head, .send("1\r\na\r\n"), .stall]).beforeBody)
            let producer = Producer()
            try await stage.session.withResponse(from: "echo", method: .post, body: producer.body) { response in
                #expect(response.status == .ok)
            }
            try await stage.server.wait { $0.open == 0 }
            try await stage.expectHealthy()
        }
    }

    @Test func `a request ends with its producer's error while the response is being read`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(LoopbackServer.Reply([Self.head, .send("1\r\na\r\n"), .stall]).beforeBody)
            let body = RequestBody.stream(UploadPieces(total: 1 << 20, failingAt: 200_000))
            await #expect(throws: UploadPieces.Broken.self) {
                _ = try await stage.session.post("echo", body: body, as: .bytes)
            }
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: [true, false])
    func `sending and receiving both end when the request is cancelled`(byTask: Bool) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let begun = LoopbackServer.Gate()
            let reply = LoopbackServer.Reply([Self.head, .send("0\r\n\r\n"), .signal(begun), .stall]).beforeBody
            stage.server.enqueue(reply)
            let task = Task { try await stage.session.post("echo", body: Producer().body, as: .bytes).value }
            try await begun.opened()
            if byTask { task.cancel() } else { _ = await stage.session.tasks.cancelAll() }
            let result = await task.result
            #expect(throws: (any Error).self) { try result.get() }
            try await stage.server.wait { $0.open == 0 }
            try await stage.expectHealthy()
        }
    }

    @Test func `a server that does not read stalls the producer`() async throws {
        var small = LoopbackServer.Configuration()
        small.receiveBuffer = 64 << 10
        try await Stage.with(server: small, tolerating: true) { (stage: Stage) async throws in
            let (begun, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            stage.server.enqueue(
                LoopbackServer.Reply([.signal(begun), .waitForSignal(goOn)]).beforeBody
                    .then(.message(.init(.ok, fields: ["Content-Length": "0"]))))
            let producer = Producer()
            let piece = Bytes([UInt8](repeating: 0, count: 64 << 10))
            let count = 512
            for _ in 0..<count { producer.permits.continuation.yield(piece) }
            producer.permits.continuation.finish()
            async let answer = stage.session.post("up", body: producer.body, as: .bytes)
            try await begun.opened()
            var (last, quiet) = (-1, 0)
            try await stage.eventually("a stall", every: .milliseconds(2)) {
                let made = producer.made.load(ordering: .relaxed)
                quiet = made == last && made > 0 ? quiet + 1 : 0
                last = made
                return quiet > 500
            }
            // What is out is in the kernel's buffers, a few MiB of them.
            #expect(last < count / 4)
            goOn.open()
            #expect(try await answer.status == .ok)
            #expect(producer.made.load(ordering: .relaxed) == count + 1)
        }
    }
}
