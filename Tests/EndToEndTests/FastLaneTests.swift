import Dunlin
import DunlinTesting
import Glibc
import LedgerRows
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `Serializers on a loop` {
    /// Says on which thread it ran.
    struct ThreadName: ResponseSerializer {
        static var current: String {
            let descriptor = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
            defer { close(descriptor) }
            var name = [UInt8](repeating: 0, count: 64)
            let count = read(descriptor, &name, name.count)
            return String(decoding: name.prefix(max(count - 1, 0)), as: UTF8.self)
        }

        func serialize(_ response: HTTP.WholeResponse) throws -> String { Self.current }
    }

    struct Refusing: ResponseSerializer {
        struct Refused: Error {}
        func serialize(_ response: HTTP.WholeResponse) throws { throw Refused() }
    }

    @Test(.rows("SM-45", "OP-14"), arguments: [(0, true), (64 * 1024, true), (64 * 1024 + 1, false), (1 << 20, false)])
    func `a serializer stays on the loop for short bodies only`(count: Int, stays: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .generated(length: count) }
            let session = stage.session
            let name = try await session.onEventLoop { @concurrent in
                try await session.get("x", as: ThreadName()).value
            }
            #expect((name == "dunlin-private") == stays)
            #expect(try await session.get("x", as: ThreadName()).value != "dunlin-private")
        }
    }

    /// Goes on when two are at work at once.
    final class Meeting: ResponseSerializer {
        private let present = Atomic(0)

        func serialize(_ response: HTTP.WholeResponse) -> Bool {
            present.add(1, ordering: .sequentiallyConsistent)
            let end = ContinuousClock.now + .seconds(60)
            while present.load(ordering: .sequentiallyConsistent) < 2, ContinuousClock.now < end { sched_yield() }
            return present.load(ordering: .sequentiallyConsistent) == 2
        }
    }

    @Test(.rows("SM-45"), .enabled(if: sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1))
    func `long bodies are serialized at the same time, though their callers are on one loop`() async throws {
        try await Stage.with(oneLoop: true) { (stage: Stage) async throws in
            stage.server.respond { _ in .generated(length: 1 << 20) }
            let (session, meeting) = (stage.session, Meeting())
            let get = { @Sendable in
                try await session.onEventLoop { @concurrent in try await session.get("x", as: meeting).value }
            }
            async let first = get()
            async let second = get()
            let (didFirst, didSecond) = try await (first, second)
            #expect(didFirst && didSecond)
        }
    }

    @Test(arguments: [10, 1 << 20])
    func `what a serializer throws reaches the caller from wherever it runs`(count: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .generated(length: count) }
            let session = stage.session
            await #expect(throws: Refusing.Refused.self) {
                try await session.onEventLoop { @concurrent in try await session.get("x", as: Refusing()).value }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `A coded body` {
    /// What the calling thread has computed so far.
    private static var computed: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// A stream is decoded by whoever reads it, so that it tells what decoding costs.
    @Test(.rows("SM-45")) func `a long coded body is decoded off the loop, though its caller is on it`() async throws {
        try await Stage.with(configure: { $0.limits.decodingRatio = nil }) { (stage: Stage) async throws in
            let length = 24 << 20
            let body = try RequestBody.bytes(Bytes([UInt8](repeating: 0, count: length))).compressed()
            guard case .bytes(let coded) = body.content else { return }
            stage.server.respond { _ in .response(fields: ["Content-Encoding": "gzip"], body: coded) }
            let session = stage.session
            let (streamed, whole) = try await session.onEventLoop { @concurrent in
                let start = Self.computed
                try await session.withResponse(from: "x") { response in
                    var count = 0
                    for try await piece in response.body { count += piece.count }
                    #expect(count == length)
                }
                let middle = Self.computed
                #expect(try await session.get("x", as: .bytes).value.count == length)
                #expect(`Serializers on a loop`.ThreadName.current == "dunlin-private")
                return (middle - start, Self.computed - middle)
            }
            #expect(whole * 2 < streamed)
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `Long bodies on a loop` {
    @Test func `a body that is read more slowly than it comes leaves the loop to others`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/long", .generated(length: 1 << 36))
            stage.server.route(.get, "/short", .response(body: "short"))
            let session = stage.session
            let isOver = Atomic(false)
            let count = Atomic(0)
            async let long: Void = session.onEventLoop { @concurrent in
                try await session.withResponse(from: "long") { response in
                    for try await piece in response.body {
                        count.add(piece.count, ordering: .relaxed)
                        // Slower than the server.
                        let end = ContinuousClock.now + .milliseconds(2)
                        while .now < end {}
                        if isOver.load(ordering: .relaxed) { break }
                    }
                }
            }
            try await stage.eventually("the long body is being read") { count.load(ordering: .relaxed) > 1 << 21 }
            for _ in 0..<3 {
                #expect(try await session.get("short", timeout: .seconds(60), as: .string).value == "short")
            }
            isOver.store(true, ordering: .relaxed)
            try await long
        }
    }
}
