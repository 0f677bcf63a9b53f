import Dunlin
import DunlinTesting
import Folders
import Testing

/// What becomes of a process whose descriptors are few, or not those that every process begins with. In processes of
/// their own: limits hold for all of one.
@Suite(.timeLimit(.minutes(10)))
struct `A process short of descriptors` {
    @Test func `a name lookup without descriptors fails with that reason, and works once there are some`() async throws
    {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { .response(body: Bytes("answer to \($0.target)")) }
        let end = try await Peer(["starved", "\(server.port)"]).end()
        #expect(
            end.lines == [
                "answer to /first",
                "nameNotResolved: no file descriptor is free for the name look-up: Too many open files; raise the "
                    + "limit of open files (ulimit -n)",
                "answer to /named",
            ])
        #expect(end.status == 0)
    }

    @Test func `Dunlin never uses the standard descriptors of a process that has closed them`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { request in
            switch request.target {
            case "/large": .generated(length: 1 << 20)
            // The peer looks while the file is being written, and for a while.
            case "/slow":
                [
                    .message(.init(.ok, fields: ["Content-Length": "2000"])), .generated(0..<1000),
                    .pause(.milliseconds(500)), .generated(1000..<2000),
                ]
            default: .response(body: "x")
            }
        }
        let folder = try Folder()
        let end = try await Peer([
            "without-standard-descriptors", server.baseURL.replacing("127.0.0.1", with: "localhost"),
            "\(folder.path)/file", "\(folder.path)/report",
        ]).end()
        #expect(end.status == 0)
        let found = folder.text(of: "report").split(separator: "\n")
        // A timer is the runtime's: Dunlin makes none.
        #expect(found.filter { !$0.hasSuffix("[timerfd]") } == ["done"])
        #expect(try folder.contents("file").count == 2000)
    }

    @Test func `a forked child that keeps all descriptors open does not disturb its parent`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let end = try await Peer(["forked", server.baseURL]).end()
        #expect(end.status == 0 && end.lines.last == "done")
    }
}
