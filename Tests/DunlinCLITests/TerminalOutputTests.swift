import Children
import Dunlin
import DunlinCommandLine
import DunlinTesting
import Glibc
import Testing

@testable import DunlinCLI

/// What a person sees of a request: the linked program on a terminal.
@Suite(.timeLimit(.minutes(5))) struct TerminalOutputTests {
    private static let harm = "\u{9B}2J\u{85}\u{202E}\u{2066}\u{2028}\u{200F}\u{61C}"

    /// The text with the colours of the command's own as words.
    private static func named(_ text: String) -> String {
        TextStyle.allCases.reduce(text) { $0.replacing($1.control, with: "<\($1)>") }
            .replacing("<plain>", with: "</>")
    }

    private static func server(_ type: String, _ body: Bytes) throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.route(.get, "/", .response(fields: ["Content-Type": type], body: body))
        return server
    }

    @Test func `JSON is indented and coloured, and raw in a pipe`() async throws {
        let json = #"{"id": 42, "names": ["Ada \u00e9"], "ok": true}"#
        let server = try Self.server("application/json", Bytes(json))
        defer { server.stop() }
        let plain = "{\n  \"id\": 42,\n  \"names\": [\n    \"Ada \\u00e9\"\n  ],\n  \"ok\": true\n}\n"
        let (text, end) = try await PseudoTerminal.run([server.baseURL])
        #expect(
            Self.named(text)
                == """
                {
                  <name>"id"</>: <number>42</>,
                  <name>"names"</>: [
                    <string>"Ada \\u00e9"</>
                  ],
                  <name>"ok"</>: <word>true</>
                }

                """)
        #expect(end.status == 0)
        for environment in [["NO_COLOR": "1"], ["TERM": "dumb"], ["TERM": ""]] {
            #expect(try await PseudoTerminal.run([server.baseURL], environment: environment).text == plain)
        }
        let paper = try Paper()
        _ = try await PseudoTerminal.run([server.baseURL], descriptors: [1: paper.output.results])
        #expect(try paper.said == json)
    }

    @Test func `nothing that a server sends controls the terminal, unless it is asked for`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let body = "\u{1B}[2J\u{1B}]0;title\u{7}\(Self.harm)\r\nx\u{7F}"
        let head = "HTTP/1.1 404 No\(Self.harm)pe\r\nX-Name: v\(Self.harm)w\r\n"
        for type in ["text/plain", "application/json"] {
            server.route(
                .get, "/",
                .raw(Bytes("\(head)Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")))
            let (text, end) = try await PseudoTerminal.run(["-i", "-v", server.baseURL])
            let own = Self.named(text)
            let isClean = own.unicodeScalars.allSatisfy { $0 == "\n" || !VisibleText.hasEffect($0) }
            #expect(isClean, "\(text.debugDescription)")
            #expect(own.contains(#"\u001b[2J\u001b]0;title\u0007\u009b2J\u0085\u202e\u2066\u2028\u200f\u061c"#))
            #expect(own.contains("<failure>404 No2J  pe</>\n<name>X-Name</>: v2J  w\n"))
            #expect(end.status == ExitCode.refused.rawValue)
        }
        #expect(try await PseudoTerminal.run(["-sf", server.baseURL]).text == "")
        #expect(try await PseudoTerminal.run(["-s", "--raw", server.baseURL]).text == body)
    }

    @Test func `a binary body is not shown, and the message says what to do`() async throws {
        let server = try Self.server("image/png", Bytes([0x89, 0x50, 0x4E, 0x47, 0x00, 0xFF]))
        defer { server.stop() }
        let (text, end) = try await PseudoTerminal.run([server.baseURL], columns: 60)
        #expect(
            text == """
                dunlin: the body is binary (image/png), which would disturb
                    the terminal; -o FILE saves it, --raw prints it even so

                """)
        #expect(end.status == ExitCode.unwritten.rawValue)
        let silent = try await PseudoTerminal.run(["-s", server.baseURL])
        #expect(silent.text == "" && silent.end.status == ExitCode.unwritten.rawValue)
        #expect(try await PseudoTerminal.run(["-sS", server.baseURL]).text.hasPrefix("dunlin: the body is binary"))
    }

    @Test func `no message stands on the last line of a body`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(.get, "/404", .response(.notFound, body: "not here"))
        let half = Bytes("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of")
        server.route(.get, "/cut", .raw(half).truncatedAfter(half.count))
        server.route(.get, "/200", .response(body: "no end"))
        let refused = try await PseudoTerminal.run([server.baseURL + "/404"])
        #expect(refused.text == "not here\ndunlin: the server answered 404 Not Found\n")
        let cut = try await PseudoTerminal.run([server.baseURL + "/cut"])
        #expect(cut.text.hasPrefix("half of\ndunlin: the response ended too soon"))
        #expect(try await PseudoTerminal.run([server.baseURL + "/200"]).text == "no end\n")
        #expect(try await PseudoTerminal.run(["--raw", server.baseURL + "/200"]).text == "no end")
        let paper = try Paper()
        _ = try await PseudoTerminal.run([server.baseURL + "/404"], descriptors: [1: paper.output.results])
        #expect(try paper.said == "not here")
    }

    @Test(arguments: [60, 100])
    func `the heads are shown before the body, and the rest after it`(columns: Int) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route(.get, "/first", .response(302, fields: ["Location": "/second"]))
        server.route(.get, "/second", .chunked([Bytes](repeating: "abcdefghijklmnopqrstuvwxyz", count: 50)))
        for _ in 0..<5 {
            let (text, end) = try await PseudoTerminal.run(
                ["-vi", server.baseURL + "/first"], columns: columns, environment: ["NO_COLOR": "1"])
            let marks = [
                "> GET /first", "< HTTP/1.1 302", "* response complete, 0 bytes of body\n", "> GET /second",
                "< HTTP/1.1 200 OK", "\n200 OK\n", "\n\n",
                "* response complete, 1300 bytes of body\n", "200 OK, 1300 B\n",
            ]
            var rest = text[...]
            for mark in marks {
                let range = try #require(rest.firstRange(of: mark), "\(mark) in \(text.debugDescription)")
                rest = rest[range.upperBound...]
            }
            #expect(text.contains("\n\n" + String(repeating: "abcdefghijklmnopqrstuvwxyz", count: 50) + "\n"))
            #expect(end.status == 0)
        }
    }
}
