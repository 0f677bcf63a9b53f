import Children
import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Foundation
import Glibc
import Testing

@testable import DunlinCLI

/// Standard output that takes nothing, or not yet.
@Suite(.timeLimit(.minutes(5))) struct OutputFailureTests {
    private static func run(
        _ script: String, _ arguments: String..., descriptors: [Int32: Int32] = [:]
    ) async throws -> (text: String, end: Child.End) {
        try await PseudoTerminal.run(
            ["-c", script, "sh", try PseudoTerminal.program] + arguments, by: "/bin/sh", descriptors: descriptors)
    }

    /// The ends of a pipe, which no other child gets.
    private static func pipe() -> [Int32] {
        var ends: [Int32] = [-1, -1]
        #expect(Glibc.pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    @Test(arguments: ["version", "URL"]) func `a full disk is said, with a code of its own`(word: String) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(.get, "/", .generated(length: 8 << 20))
        let argument = word == "URL" ? server.baseURL : word
        let (text, end) = try await Self.run("\"$1\" \"$2\" >/dev/full", argument)
        #expect(text == "dunlin: standard output cannot be written to: No space left on device\n")
        #expect(end.status == ExitCode.unwritten.rawValue)
        guard word == "URL" else { return }
        let device = try await Self.run("\"$1\" -o /dev/full \"$2\"", argument)
        #expect(device.text == "dunlin: /dev/full cannot be written to: No space left on device\n")
        #expect(device.end.status == ExitCode.unwritten.rawValue)
        let silent = try await Self.run("\"$1\" -s \"$2\" >/dev/full", argument)
        #expect(silent.text == "" && silent.end.status == ExitCode.unwritten.rawValue)
    }

    @Test func `a closed standard output is said, and no connection is taken for it`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(.get, "/", .response(body: "body"))
        let (text, end) = try await Self.run("exec \"$1\" \"$2\" >&- <&-", server.baseURL)
        #expect(text == "dunlin: standard output is closed\n")
        #expect(end.status == ExitCode.unwritten.rawValue)
        let (silent, other) = try await Self.run("exec \"$1\" -v \"$2\" 2>&-", server.baseURL)
        #expect(silent == "body\n" && other.status == 0)
    }

    @Test func `the file behind standard output keeps what else is written to it`() async throws {
        let (server, folder) = (try LoopbackServer(), try Folder())
        defer { server.stop() }
        server.route(.get, "/", .response(body: "body\n"))
        let script = "cd '\(folder.path)'; (echo a; \"$1\" -o /dev/stdout \"$2\"; echo b) >out"
        let (text, end) = try await Self.run(script, server.baseURL)
        #expect(text == "" && end.status == 0)
        #expect(try folder.contents("out") == "a\nbody\nb\n")
    }

    @Test func `a reader that has gone is told nothing`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(.get, "/", .generated(length: 8 << 20))
        let ends = Self.pipe()
        close(ends[0])
        defer { close(ends[1]) }
        let killed = try await PseudoTerminal.run([server.baseURL], descriptors: [1: ends[1]])
        #expect(killed.text == "" && killed.end.wasKilled && killed.end.status == SIGPIPE)
        let (text, end) = try await Self.run(
            "trap '' PIPE; exec \"$1\" \"$2\"", server.baseURL, descriptors: [1: ends[1]])
        #expect(text == "" && end.status == ExitCode.unwritten.rawValue)
    }

    @Test func `a reader that is slow gets all, though the pipe never blocks`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(.get, "/", .generated(length: 3 << 20))
        let ends = Self.pipe()
        #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        let reader = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        async let running = PseudoTerminal.run([server.baseURL], descriptors: [1: ends[1]])
        // The pipe is full long before.
        _ = try await server.waitForRequests(1)
        let read = Task.detached { try reader.readToEnd()?.count }
        let (text, end) = try await running
        close(ends[1])
        #expect(try await read.value == 3 << 20)
        #expect(text == "" && end.status == 0)
    }
}
