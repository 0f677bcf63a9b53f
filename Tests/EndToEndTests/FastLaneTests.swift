import Dunlin
import DunlinTesting
import Glibc
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

        func serialize(_ response: HTTPSession.Response<Bytes>) throws -> String { Self.current }
    }

    struct Refusing: ResponseSerializer {
        struct Refused: Error {}
        func serialize(_ response: HTTPSession.Response<Bytes>) throws { throw Refused() }
    }

    @Test(arguments: [(0, true), (64 * 1024, true), (64 * 1024 + 1, false), (1 << 20, false)])
    func `stay there for short bodies only`(count: Int, stays: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .generated(length: count) }
            let session = stage.session
            let name = try await session.withExecutor { @concurrent in
                try await session.get("x", as: ThreadName()).value
            }
            #expect((name == "dunlin-private") == stays)
            #expect(try await session.get("x", as: ThreadName()).value != "dunlin-private")
        }
    }

    @Test(arguments: [10, 1 << 20])
    func `hand on what they throw from wherever they run`(count: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .generated(length: count) }
            let session = stage.session
            await #expect(throws: Refusing.Refused.self) {
                try await session.withExecutor { @concurrent in try await session.get("x", as: Refusing()).value }
            }
        }
    }
}
