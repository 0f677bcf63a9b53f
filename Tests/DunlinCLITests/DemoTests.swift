import Dunlin
import DunlinCommandLine
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// What each part of the demo shows, in a file: what really happened, without escapes, in lines of 80 columns.
@Suite(.timeLimit(.minutes(10))) struct DemoTests {
    /// The lines that a part prints below its title.
    private func lines(of part: any DemoPart) async throws -> [String] {
        let paper = try Paper()
        try await part.run(on: DemoPage(paper.output))
        #expect(try Paper.lines(of: paper.remarks).isEmpty)
        return try Paper.lines(of: paper.results)
    }

    @Test func `the demo numbers its parts, and fits a terminal with 80 columns and 40 rows`() async throws {
        let paper = try Paper()
        #expect(await DunlinCommand.run(.demo, paper.output) == .success)
        let lines = try Paper.lines(of: paper.results)
        let numbers = lines.compactMap { line in line.dropFirst().hasPrefix("  ") ? Int(line.prefix(1)) : nil }
        #expect(numbers == Array(1...Demo.parts.count))
        for part in Demo.parts {
            #expect(lines.contains { $0.contains("  \(part.title)  ") && $0.hasSuffix(part.code) })
        }
        #expect(lines.allSatisfy { $0.count < 80 && !$0.contains("\u{1B}") }, "\(lines)")
        // A bar is one row on a terminal, and several lines in a file.
        let rows = lines.count { !$0.contains("%, ") } + Demo.parts.count
        #expect(rows < 40)
        #expect(lines.last?.hasPrefix("All of that took ") == true)
        #expect(try Paper.lines(of: paper.remarks).isEmpty)
    }

    @Test func `JSON arrives over TLS, and each phase of its request has a bar`() async throws {
        let lines = try await lines(of: SecureJSONDemo())
        #expect(
            lines.first == "   200: user 42 is Ada Lovelace; TLS 1.3, CN=127.0.0.1 signed by CN=demo",
            "\(lines.first ?? "")")
        for phase in ["connect", "tls", "send", "firstByte", "receive"] {
            #expect(lines.count { $0.hasPrefix("     \(phase) ") } == 1, "\(phase)")
        }
    }

    @Test func `a key that is not pinned is refused before anything is sent`() async throws {
        let lines = try await lines(of: PinDemo())
        #expect(lines.count == 3)
        #expect(lines.first?.hasPrefix("   saw       sha256/") == true)
        #expect(lines.dropFirst().first?.hasPrefix("   expected  sha256/") == true)
        #expect(lines.last?.hasPrefix("   Refused in phase tls after ") == true)
        #expect(lines.last?.hasSuffix("; the server has read 0 requests.") == true)
    }

    @Test func `an upload has a bar, and the server has every byte`() async throws {
        let lines = try await lines(of: UploadDemo())
        #expect(lines.contains { $0.hasPrefix("   film: done, 8.0 MiB") })
        #expect(lines.last == "   201; the server has read 8388608 bytes, all of them right")
    }

    @Test func `a download that is cut off is resumed, and leaves only its file, which the demo removes`() async throws
    {
        let lines = try await lines(of: DownloadDemo())
        #expect(lines.contains { $0.hasPrefix("   disk.img: done, 8.0 MiB") })
        #expect(lines.last?.hasPrefix("   Reset, then resumed by Range: bytes=") == true)
        #expect(lines.last?.hasSuffix("-; the file is the server's") == true)
        #expect(lines.last?.contains("bytes=0-") == false)
    }

    @Test func `a stream of events that ends is asked for again after its last event`() async throws {
        let lines = try await lines(of: EventsDemo())
        #expect(
            lines.map { $0.prefix(10) }
                == ["   event 1", "   Closed ", "   event 2"].map { $0.prefix(10) })
        #expect(lines.dropFirst().first?.hasSuffix("Last-Event-ID: 1") == true)
    }

    @Test func `the second request is answered from memory`() async throws {
        let lines = try await lines(of: CacheDemo())
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("   From network in ") == true)
        #expect(lines.first?.contains(", from memory in ") == true)
        #expect(lines.first?.hasSuffix("; the server read 1 request.") == true)
    }

    @Test func `a status and a broken connection are retried, and each is named`() async throws {
        let lines = try await lines(of: RetryDemo())
        #expect(lines.count == 3)
        #expect(lines.first?.hasPrefix("   status 503; trying again in ") == true)
        #expect(lines.dropFirst().first?.contains(" in receive; trying again in ") == true)
        #expect(lines.last == "   200 at attempt 3: ready")
    }

    @Test func `a download that is cancelled leaves no files`() async throws {
        let (paper, folder) = (try Paper(), try Folder())
        func content() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        // It would take a minute and a half, so it cannot end before it is cancelled.
        let demo = DownloadDemo(parent: folder.path, pause: .seconds(1))
        let task = Task { try await demo.run(on: DemoPage(paper.output)) }
        // The first line says how far the download is.
        while try Paper.lines(of: paper.results).isEmpty { await Task.yield() }
        #expect(try content().count == 1)
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(try content().isEmpty)
        // Nothing is drawn any more.
        let last = try Paper.lines(of: paper.results).last
        #expect(last?.hasPrefix("   disk.img: stopped after ") == true, "\(last ?? "nothing")")
    }
}
