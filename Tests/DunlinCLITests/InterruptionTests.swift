import Children
import Dunlin
import DunlinRecording
import DunlinTesting
import Folders
import Foundation
import Glibc
import Testing

@testable import DunlinCLI

/// ^C and the signal TERM, sent to the program.
@Suite(.timeLimit(.minutes(5))) struct InterruptionTests {
    private let server: LoopbackServer
    private let folder: Folder

    init() throws { (server, folder) = (try LoopbackServer(), try Folder()) }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "said" }.sorted() }
    }

    /// Starts the program, and sends it the signal when this much has come of each file.
    private func run(_ arguments: [String], _ signal: Int32, after count: Int) async throws -> (String, Child.End) {
        try folder.write("", as: "said")
        let said = try #require(FileHandle(forWritingAtPath: folder.path + "/said"))
        let child = try Child(
            try PseudoTerminal.program, arguments, in: folder.path, environment: Child.ownEnvironment,
            descriptors: [1: said.fileDescriptor, 2: said.fileDescriptor])
        try await eventually("a part file that grows") { try isMoving(count) }
        kill(child.pid, signal)
        let end = await child.ended()
        return (folder.text(of: "said"), end)
    }

    /// Whether every part file has this length, and one is there.
    private func isMoving(_ count: Int) throws -> Bool {
        let parts = try files.filter { $0.hasSuffix(".dunlin-part") }
        return try !parts.isEmpty && parts.allSatisfy { try folder.contents($0).count >= count }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `what can be continued stays, and the program says how`(signal: Int32) async throws {
        let entity = LoopbackServer.Entity(length: 3_000_000, tag: "\"v1\"")
        server.respond { request in
            let reply = entity.reply(to: request)
            return request.fields.contains("range") ? reply : reply.stallingAfter(1_000_000)
        }
        let url = server.baseURL + "/a?b"
        let secrets = signal == SIGINT ? ["--bearer", "hunter2"] : []
        let (said, end) = try await run(["-o", "a b", url] + secrets, signal, after: 500_000)
        #expect(end.wasKilled && end.status == signal)
        let advice = secrets.isEmpty ? ": dunlin -o 'a b' '\(url)' -C -" : ", give the same command again"
        #expect(said.contains("to continue\(advice)\n"), "\(said)")
        #expect(!said.contains("hunter2") && !said.contains("failed"))
        #expect(try files == [".a b.dunlin-part", ".a b.dunlin-record"])
        let (_, second) = try await Child.output(
            of: try PseudoTerminal.program, ["-o", "a b", url, "-C", "-"] + secrets, in: folder.path)
        #expect(second.status == 0 && !second.wasKilled)
        #expect(try folder.contents("a b") == entity.bytes)
        #expect(server.requests.last?.fields.contains("range") == true)
    }

    @Test func `what cannot be continued is removed`() async throws {
        server.respond { _ in .generated(length: 3_000_000).stallingAfter(1_000_000) }
        let (said, end) = try await run(["-o", "a", server.baseURL], SIGINT, after: 500_000)
        #expect(end.wasKilled && end.status == SIGINT && !said.contains("to continue"), "\(said)")
        #expect(try files.isEmpty)
    }

    @Test func `a program that is killed loses nothing that had come`() async throws {
        let entity = LoopbackServer.Entity(length: 12_000_000, tag: "\"v1\"")
        server.respond { request in
            let reply = entity.reply(to: request)
            return request.fields.contains("range") ? reply : reply.stallingAfter(9_000_000)
        }
        let arguments = ["download", server.baseURL + "/x", server.baseURL + "/y"]
        let (_, end) = try await run(arguments, SIGKILL, after: 8_000_000)
        #expect(end.status == SIGKILL)
        let (said, second) = try await Child.output(of: try PseudoTerminal.program, arguments, in: folder.path)
        #expect(second.status == 0, "\(said)")
        #expect(try files == ["x", "y"] && folder.contents("y") == entity.bytes)
        #expect(server.requests.filter { $0.fields.contains("range") }.count >= 1)
    }

    @Test func `a program ends though nobody reads what it says`() async throws {
        server.respond { _ in .generated(length: 3_000_000).stallingAfter(1_000_000) }
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let filler = [UInt8](repeating: 0x2E, count: 4096)
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        while write(ends[1], filler, filler.count) > 0 {}
        _ = fcntl(ends[1], F_SETFL, 0)
        let child = try Child(
            try PseudoTerminal.program, ["download", server.baseURL + "/a"], in: folder.path,
            environment: Child.ownEnvironment, descriptors: [2: ends[1]])
        try await eventually("a part file that grows") { try isMoving(500_000) }
        kill(child.pid, SIGTERM)
        let end = await child.ended()
        #expect(end.wasKilled && end.status == SIGTERM)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an archive has the request that was stopped`(signal: Int32) async throws {
        server.respond { _ in .generated(length: 3_000_000).stallingAfter(1000) }
        let child = try Child(
            try PseudoTerminal.program, ["--har", "a.har", server.baseURL], in: folder.path,
            environment: Child.ownEnvironment)
        _ = try await server.waitForRequests(1)
        kill(child.pid, signal)
        let end = await child.ended()
        #expect(end.wasKilled && end.status == signal)
        let entries = try HAR(contentsOf: folder.path + "/a.har").entries
        #expect(entries.count == 1 && entries[0].response.error != nil)
    }

    @Test func `a terminal has its lines in order after ^C`() async throws {
        server.respond { _ in .generated(length: 3_000_000).stallingAfter(1_000_000) }
        let terminal = try PseudoTerminal(columns: 60)
        let child = try Child(
            try PseudoTerminal.program, ["download", server.baseURL + "/a", server.baseURL + "/b"], in: folder.path,
            environment: Child.ownEnvironment + ["TERM=xterm", "LANG=C.UTF-8"],
            descriptors: [0: terminal.device, 1: terminal.device, 2: terminal.device])
        try await eventually("a part file that grows") { try isMoving(500_000) }
        kill(child.pid, SIGINT)
        let end = await child.ended()
        let text = terminal.finishedText()
        #expect(end.wasKilled && end.status == SIGINT)
        #expect(text.contains("stop") && text.contains("total") && text.contains("0/2"), "\(text.debugDescription)")
        #expect(text.hasSuffix("\u{1B}[J") && !text.contains("\u{1B}[?25l"), "\(text.debugDescription)")
    }
}
