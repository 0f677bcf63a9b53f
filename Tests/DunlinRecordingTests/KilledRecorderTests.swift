import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

@testable import DunlinRecording

@Suite(.timeLimit(.minutes(10))) struct `A recorder whose process is killed` {
    /// A limit of the process stands for a full disk: the kernel writes a part, and then refuses.
    @Test func `what a full disk has no room for is lost, and everything before is there`() async throws {
        let folder = try Folder(with: "a")
        let path = "\(folder.path)/a.har"
        await #expect(processExitsWith: .success) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            let transport = MockTransport()
            transport.otherwise { _ in .respond(body: Bytes(repeatElement(0x61, count: 3000))) }
            let recorder = try HARRecorder(path, .init(bodyLimit: 10_000))
            let client = try HTTPSession(baseURL: "http://a.test") {
                $0.transport = transport
                $0.observers.append(recorder)
            }
            var limit = rlimit(rlim_cur: 100_000, rlim_max: 1_000_000)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            for number in 0..<100 { _ = try await client.get(HTTP.Target("\(number)"), as: .string) }
            let problem = await #expect(throws: HAR.Problem.self) { try await recorder.finish() }
            #expect(problem?.reason.contains("entries were lost") == true)
            let lost = recorder.lost
            #expect((50..<100).contains(lost))
            limit.rlim_cur = limit.rlim_max
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            // There is room again.
            _ = try await client.get("last", as: .string)
            await #expect(throws: HAR.Problem.self) { try await recorder.finish() }
            let har = try HAR(contentsOf: path)
            #expect(!har.wasTorn && har.lost == lost && har.entries.count == 101 - lost)
            #expect(har.entries.last?.request.url.hasSuffix("/last") == true)
        }
    }

    @Test(arguments: [1, 3, 10, 30, 100]) func `nothing that was recorded before is lost, and it is gone on with`(
        milliseconds: Int
    ) async throws {
        let folder = try Folder(with: "a")
        let path = "\(folder.path)/a.har"
        for round in 1...3 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, milliseconds] in
                let transport = MockTransport()
                transport.otherwise { _ in .respond(body: Bytes(repeatElement(0x61, count: 3000))) }
                let recorder = try HARRecorder(path, .init(bodyLimit: 10_000, existing: .append))
                let client = try HTTPSession(baseURL: "http://a.test") {
                    $0.transport = transport
                    $0.observers.append(recorder)
                }
                for number in 0..<50 { _ = try await client.get(HTTP.Target("sure/\(number)"), as: .string) }
                try await recorder.finish()
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
                    kill(getpid(), SIGKILL)
                }
                while true { _ = try await client.get("perhaps", as: .string) }
            }
            let har = try HAR(contentsOf: path)
            #expect(har.entries.count { $0.request.url.contains("sure") } == 50 * round)
            #expect(har.entries.allSatisfy { $0.response.content.text?.count == 3000 })
        }
    }
}
