import Dunlin
import DunlinCommandLine
import DunlinTesting
import DunlinTypes
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// `-w`: what is printed after a transfer.
@Suite(.timeLimit(.minutes(5))) struct WriteOutTests {
    private let server: LoopbackServer
    private let paper: Paper
    private let folder: Folder

    init() throws {
        (server, paper, folder) = (try LoopbackServer(), try Paper(), try Folder())
        server.respond { request in
            switch request.target {
            case "/old": .response(302, fields: ["Location": "/new"])
            case "/lost": .response(302, fields: ["Location": "/none"])
            case "/none": .response(404, fields: ["Content-Type": "text/plain"], body: "no")
            default: .response(fields: ["Content-Type": "text/plain; charset=utf-8"], body: "body")
            }
        }
    }

    private func run(_ arguments: [String]) async throws -> ExitCode {
        await DunlinCommand.run(try Command(arguments: arguments), paper.output)
    }

    private static func facts(_ hops: [HTTP.Hop]) -> TransferFacts {
        var head = ResponseHead(status: 404)
        head.fields["Content-Type"] = "text/html\u{1B}[2J"
        return TransferFacts(head: head, url: "http://a.test/b", redirects: 0, hops: hops)
    }

    /// A hop that begins after so many milliseconds, with phases of so many.
    private static func hop(from start: Int64, _ phases: [(HTTP.Phase, Int64)]) -> HTTP.Hop {
        var hop = HTTP.Hop()
        hop.started = HTTP.Instant(nanoseconds: start * 1_000_000)
        for (phase, time) in phases { hop[phase] = time * 1_000_000 }
        hop.ended = hop.started.advanced(by: phases.reduce(0) { $0 + $1.1 } * 1_000_000)
        (hop.peer, hop.bodyBytes) = (.v4(0x7F00_0001, port: 80), 12)
        return hop
    }

    private static let first = hop(from: 1000, [(.resolve, 7), (.receive, 3)])
    private static let last = hop(
        from: 1020,
        [(.pool, 1), (.resolve, 2), (.connect, 4), (.tls, 8), (.send, 16), (.firstByte, 32), (.receive, 900)])

    @Test(arguments: [
        ("%{http_code}", "404"), ("a%{http_code}b%{remote_ip}", "a404b127.0.0.1"), ("%{size_download}", "12"),
        ("%{url_effective}", "http://a.test/b"), ("%{num_redirects}", "0"), ("%{content_type}", "text/html[2J"),
        ("%{time_namelookup}", "0.023000"), ("%{time_connect}", "0.027000"),
        ("%{time_appconnect}", "0.035000"), ("%{time_pretransfer}", "0.035000"), ("%{time_redirect}", "0.020000"),
        ("%{time_starttransfer}", "0.083000"), ("%{time_total}", "0.983000"),
        (#"\n\t\r\x\"#, "\n\t\r\\x\\"), ("%%{http_code}%", "%{http_code}%"), ("100% %d", "100% %d"), ("", ""),
    ])
    func `variables and escapes have curl's meaning`(format: String, expected: String) throws {
        #expect(try WriteOut(format).text(of: Self.facts([Self.first, Self.last])) == expected)
    }

    @Test func `without an answer there are zeros`() throws {
        let format = try WriteOut("%{http_code} %{size_download} %{time_total}%{remote_ip}%{content_type}")
        let error = NetworkError(.connectionFailed, "no")
        #expect(format.text(of: TransferFacts(error, of: "a", .init())) == "000 0 0.000000")
    }

    private static let known =
        "it knows content_type, http_code, num_redirects, remote_ip, size_download, time_appconnect, time_connect, "
        + "time_namelookup, time_pretransfer, time_redirect, time_starttransfer, time_total, url_effective"

    @Test(arguments: [
        ("%{http_cod}", "-w does not know %{http_cod}; \(known)"),
        ("%{http_code", "-w does not know %{http_code}; \(known)"),
        ("%header{etag}", "-w does not know %header{etag}; \(known)"), ("%{}", "-w does not know %{}; \(known)"),
        ("@f", "-w reads no file; give the format itself, such as \"$(cat FILE)\""),
    ])
    func `what is not known is refused before anything is sent`(format: String, reason: String) {
        #expect(throws: UsageError(description: reason)) { try Command(arguments: ["-w", format, "a.test"]) }
    }

    @Test(arguments: [
        ("/a", ExitCode.success, "body|200 4 0 text/plain; charset=utf-8 /a"),
        ("/old", .success, "body|200 4 1 text/plain; charset=utf-8 /new"),
        ("/none", .refused, "no|404 2 0 text/plain /none"), ("/lost", .refused, "no|404 2 1 text/plain /none"),
    ])
    func `the report follows the body, whatever came`(path: String, code: ExitCode, expected: String) async throws {
        let format = "|%{http_code} %{size_download} %{num_redirects} %{content_type} %{url_effective}"
        #expect(try await run(["-w", format, server.baseURL + path]) == code)
        #expect(try paper.said.replacing(server.baseURL, with: "") == expected)
        let file = folder.path + "/file"
        let other = try Paper()
        let command = try Command(arguments: ["-so", file, "-w", format, server.baseURL + path])
        #expect(await DunlinCommand.run(command, other.output) == code)
        // With -o the body of a refusal is read as far as a message shows it.
        #expect(
            try other.said.replacing(server.baseURL, with: "") == "|" + expected.drop { $0 != "|" }.dropFirst())
    }

    @Test func `a transfer that fails is told, too`() async throws {
        server.stop()
        let format = #"%{http_code} %{num_redirects} %{url_effective}\n"#
        #expect(try await run(["-s", "-w", format, server.baseURL + "/a?token=7"]) == .failure)
        #expect(try paper.said == "000 0 \(server.baseURL)/a?token=7\n")
        let withUser = server.baseURL.replacing("http://", with: "http://ada:pl4nted@")
        #expect(try await run(["-s", "-w", format, withUser + "/b"]) == .failure)
        #expect(try paper.said.hasSuffix("\n000 0 \(server.baseURL)/b\n"))
    }

    @Test func `a body that breaks off is told by its head`() async throws {
        server.respond { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody") }
        #expect(try await run(["-s", "-w", "|%{http_code} %{size_download}", server.baseURL]) == .failure)
        #expect(try paper.said == "body|200 4")
    }

    @Test func `times are told in order`() async throws {
        // Without TLS and redirects two are zero.
        let names = [
            "time_redirect", "time_appconnect", "time_namelookup", "time_connect", "time_pretransfer",
            "time_starttransfer", "time_total",
        ]
        #expect(
            try await run(["-o", "/dev/null", "-w", names.map { "%{\($0)}" }.joined(separator: " "), server.baseURL])
                == .success)
        let times = try paper.said.split(separator: " ").compactMap { Double($0) }
        #expect(times.count == 7 && times == times.sorted() && times[1] == 0 && times[6] > 0)
    }
}
