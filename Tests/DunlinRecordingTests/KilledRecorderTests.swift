import Dunlin
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

@testable import DunlinRecording

@Suite(.timeLimit(.minutes(10))) struct `A recorder whose process is killed` {
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
