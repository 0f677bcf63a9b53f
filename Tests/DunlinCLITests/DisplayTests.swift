import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// What the command writes into files, where nothing can be drawn over.
@Suite(.timeLimit(.minutes(10))) struct DisplayTests {
    @Test func `nothing that a server sends but the body can control the terminal`() async throws {
        let harm = "\u{9B}2J\u{85}\u{202E}\u{2066}\u{2028}\u{200F}\u{61C}"
        let paper = try Paper()
        let server = try LoopbackServer()
        defer { server.stop() }
        let head = "HTTP/1.1 404 No\(harm)pe\r\nX-Name: v\(harm)w\r\nContent-Length: 5\r\n\r\n"
        server.enqueue(.raw(Bytes(head + "\u{1B}[2Jx")))
        let command = try Command(arguments: ["get", "-i", "-v", server.baseURL])
        #expect(await DunlinCommand.run(command, paper.output) == .refused)
        let results = try String(contentsOfFile: paper.results, encoding: .utf8)
        #expect(results == "404 No2J  pe\nX-Name: v2J  w\nContent-Length: 5\n\n\u{1B}[2Jx")
        let remarks = try String(contentsOfFile: paper.remarks, encoding: .utf8)
        #expect(remarks.contains("dunlin: the server answered 404 No2J  pe\n"))
        let isClean = remarks.unicodeScalars.allSatisfy {
            $0 == "\n" || ![.control, .format, .lineSeparator].contains($0.properties.generalCategory)
        }
        #expect(isClean, "\(remarks.debugDescription)")
    }

    @Test(arguments: [[], ["-o", "DIR/file"]])
    func `options that do not fit together are said by their names, and are no failure of a server`(file: [String])
        async throws
    {
        let (paper, folder) = (try Paper(), try Folder())
        let words = ["--unix-socket", "/s", "-x", "http://127.0.0.1:1", "http://a.test"]
        let command = try Command(arguments: words + file.map { $0.replacing("DIR", with: folder.path) })
        #expect(await DunlinCommand.run(command, paper.output) == .usage)
        let said =
            "--resolve or --unix-socket gives http://a.test the address unix:/s, but the proxy http://127.0.0.1:1 "
        #expect(try paper.remarked.contains(said + "cannot connect to Unix sockets; add a.test to --noproxy"))
        #expect(try !paper.remarked.contains("a limit of this command"))
    }

    /// No disk has room for a file of the length that the server announces.
    @Test func `a full disk is said to be full, once`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in
            [.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(Int.max >> 1)\r\n\r\nx"), .close]
        }
        let (paper, folder) = (try Paper(), try Folder())
        let file = "\(folder.path)/file"
        let command = try Command(arguments: ["-o", file, "--noproxy", "*", server.baseURL])
        #expect(await DunlinCommand.run(command, paper.output) == .failure)
        let lines = try Paper.lines(of: paper.remarks).filter { $0.contains("room") || $0.contains("large") }
        #expect(lines.count == 1 && lines[0].hasPrefix("\(file): failed: the disk has no room for the file: "))
    }

    @Test func `get writes the body into a file and shows its progress in the remarks`() async throws {
        let server = try LoopbackServer()
        server.route(.get, "/x", .response(body: "content"), .response(body: "newer content"), .response(.notFound))
        let paper = try Paper()
        let folder = try Folder()
        let file = "\(folder.path)/file"
        let command = try Command(arguments: ["get", "-i", "-o", file, server.baseURL + "/x"])
        for content in ["content", "newer content"] {
            #expect(await DunlinCommand.run(command, paper.output) == .success)
            #expect(try Paper.lines(of: file) == [content])
        }
        #expect(await DunlinCommand.run(command, paper.output) == .refused)
        #expect(try Paper.lines(of: file) == ["newer content"])
        let remarks = try Paper.lines(of: paper.remarks)
        #expect(remarks.filter { $0.hasPrefix("\(file): done, ") }.count == 2)
        #expect(remarks.contains { $0.hasPrefix("\(file): failed: ") })
        #expect(remarks.last?.contains("404") == true)
        #expect(try Paper.lines(of: paper.results).filter { $0 == "200" || $0.hasPrefix("200 ") }.count == 2)
        server.stop()
    }
}
