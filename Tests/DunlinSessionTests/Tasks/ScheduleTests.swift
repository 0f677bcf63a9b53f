import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// Every request ends once and tells so once, however suspending, resuming, cancelling, sending again and completing
/// fall against each other.
@Suite(.timeLimit(.minutes(10))) struct `Schedules of a request` {
    /// Answers as a seed says: soon or late, well, badly, or so that it is asked again.
    struct Fickle: Transport {
        struct Refused: Error {}

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            var seed = SeededGenerator(seed: UInt64(request.head.fields["seed"] ?? "") ?? 0)
            for _ in 0..<Int.random(in: 0...4, using: &seed) { await Task.yield() }
            try Task.checkCancellation()
            switch Int.random(in: 0..<10, using: &seed) {
            case 0: throw Refused()
            case 1...3 where !request.needsFreshConnection:
                // As from a connection that its server was closing: the request is sent once more.
                var error = NetworkError(.connectionClosed, "gone", isSafeToRetry: true)
                error.connectionWasReused = true
                throw error
            default: return TransportResponse(head: ResponseHead(status: .ok), body: .bytes("done"))
            }
        }
    }

    /// What was told of each request.
    final class Log: Sendable {
        let ends = Mutex<[HTTPSession.TaskID: Int]>([:])

        func noteEnd(of id: HTTPSession.TaskID) {
            ends.withLock { $0[id, default: 0] += 1 }
        }
    }

    private static let schedules = 10_000
    private static let lanes = 16

    /// One part after the other, so that each has its own time.
    @Test(.serialized, arguments: 0..<10)
    func `each of a hundred thousand requests ends exactly once, however its calls interleave`(part: Int) async throws {
        let log = Log()
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: Fickle())
        configuration.hooks.completed = { log.noteEnd(of: $0.task.id) }
        let session = try HTTPSession(configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.lanes {
                group.addTask {
                    for number in stride(from: lane, to: Self.schedules, by: Self.lanes) {
                        try await Self.run(UInt64(part * Self.schedules + number), over: session, log)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await session.tasks.count == 0)
        #expect(log.ends.withLock { $0.count } == Self.schedules)
        #expect(log.ends.withLock { $0.values.allSatisfy { $0 == 1 } })
        #expect(await session.shutdown() == 0)
    }

    private static func run(_ number: UInt64, over session: HTTPSession, _ log: Log) async throws {
        var seed = SeededGenerator(seed: number)
        let options = HTTPSession.Options(fields: ["seed": "\(UInt64.random(in: 0 ... .max, using: &seed))"])
        let task = try session.task("/", options: options, as: .bytes)
        let (script, otherSeed) = (Int.random(in: 0...6, using: &seed), UInt64.random(in: 0 ... .max, using: &seed))
        let waitsInTask = Bool.random(using: &seed)
        async let meddled: Void = meddle(with: task, steps: script, seed: otherSeed)
        let result: Result<HTTPSession.Response<Bytes>, any Error>
        if waitsInTask {
            let waiter = Task { await task.result }
            if Bool.random(using: &seed) { waiter.cancel() }
            result = await waiter.value
        } else {
            result = await task.result
        }
        await meddled
        // Whatever was said to it, it says the same to whoever asks later.
        let again = await task.result
        try check(result, again)
        // Held or not, nothing keeps a request that is over from being over.
        #expect(task.snapshot.state == .over)
        #expect(task.downloaded.isFinal)
    }

    private static func meddle(
        with task: HTTPSession.RequestTask<Bytes>, steps: Int, seed: UInt64
    ) async {
        var seed = SeededGenerator(seed: seed)
        for _ in 0..<steps {
            switch Int.random(in: 0..<8, using: &seed) {
            case 0...1: task.suspend()
            case 2...3: task.resume()
            case 4: task.cancel()
            default: await Task.yield()
            }
        }
        // Nobody else will.
        task.resume()
    }

    private static func check(
        _ first: Result<HTTPSession.Response<Bytes>, any Error>, _ again: Result<HTTPSession.Response<Bytes>, any Error>
    ) throws {
        switch (first, again) {
        case (.success(let one), .success(let other)):
            #expect(one.value == "done" && other.value == "done")
        case (.failure(let one), .failure(let other)):
            let isExpected =
                one is Fickle.Refused || one is CancellationError || (one as? NetworkError)?.code == .cancelled
                || (one as? NetworkError)?.code == .connectionClosed
            #expect(isExpected, "\(one)")
            #expect(!(other is CancellationError), "nobody's task was cancelled here")
        default: Issue.record("two ends: \(first), \(again)")
        }
    }
}
