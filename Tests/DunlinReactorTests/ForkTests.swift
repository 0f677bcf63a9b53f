import DunlinTypes
import Glibc
import Testing

@testable import DunlinReactor

/// A program forks without knowing of Dunlin's threads: the child has none of them, but every descriptor.
@Suite(.timeLimit(.minutes(2))) struct `A fork` {
    /// Swift has no name for it, since a child may do next to nothing. This one waits to be ended.
    private static func child(until descriptor: Int32) throws -> pid_t {
        let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
            var byte: UInt8 = 0
            _ = read(descriptor, &byte, 1)
            _exit(0)
        }
        return child
    }

    /// While a child holds the descriptors too, the kernel goes on watching what the parent has closed: what it says of
    /// that is news of nobody, and whoever has the number next hears what is its own.
    @Test func `whose child holds on to the descriptors disturbs no loop`() async throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let reactor = try Reactor(name: "fork")
        defer { reactor.retire() }
        var lines = try (0..<8).map { _ in try Line(on: reactor) }
        let old = try (0..<8).map { _ in try Line(on: reactor) }
        let child = try Self.child(until: ends[0])
        defer {
            // Closing would not tell it: it has this end too.
            #expect(send(ends[1], "x", 1, Int32(MSG_NOSIGNAL)) == 1)
            var status: Int32 = -1
            #expect(waitpid(child, &status, 0) == child)
            #expect(status == 0)
            for end in ends { close(end) }
        }
        for line in old { line.channel.close() }
        lines += try (0..<8).map { _ in try Line(on: reactor) }
        for round in 0..<20 {
            for line in old { line.say("to nobody \(round)") }
            for line in lines {
                line.say("x")
                #expect(await line.channel.waitReadable(until: .never) == .ready)
                var bytes: [UInt8] = []
                #expect(try line.channel.read(into: &bytes, upTo: 10))
                #expect(bytes == Array("x".utf8))
                #expect(try !line.channel.read(into: &bytes, upTo: 10))
            }
        }
    }
}
