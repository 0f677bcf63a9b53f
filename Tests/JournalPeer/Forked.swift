import Dunlin
import Glibc

/// A program that forks without knowing of Dunlin's threads: the child has none of them, but every descriptor.
///
/// While the child holds them, the kernel goes on watching what the parent has closed. What it says of that is news of
/// nobody, and whoever has the number next hears what is its own.
enum Forked {
    /// Makes requests before and after a fork, over connections of before, of others and of a session that was ended.
    static func run(_ base: String) async throws {
        let kept = try HTTPSession(.init(baseURL: base))
        let ended = try HTTPSession(.init(baseURL: base))
        try await ask(kept)
        try await ask(ended)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure.pipe }
        let child = try child(until: ends[0])
        await ended.shutdown()
        for _ in 0..<20 { try await ask(kept) }
        let later = try HTTPSession(.init(baseURL: base))
        for _ in 0..<20 { try await ask(later) }
        _ = write(ends[1], "x", 1)
        var status: Int32 = -1
        guard waitpid(child, &status, 0) == child, status == 0 else { throw Failure.child(status) }
        try await ask(later)
        await kept.shutdown()
        await later.shutdown()
        print("done")
    }

    enum Failure: Error {
        case pipe
        case fork
        case child(Int32)
        case answer(String)
    }

    /// Eight requests side by side.
    private static func ask(_ session: HTTPSession) async throws {
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<8 { group.addTask { try await session.get("\(number)", as: .string).value } }
            for try await answer in group where answer != "x" { throw Failure.answer(answer) }
        }
    }

    /// Swift has no name for it, since a child may do next to nothing. This one waits to be ended.
    private static func child(until descriptor: Int32) throws -> pid_t {
        guard let symbol = dlsym(nil, "fork") else { throw Failure.fork }
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
        if child == 0 {
            var byte: UInt8 = 0
            _ = read(descriptor, &byte, 1)
            _exit(0)
        }
        return child
    }
}
