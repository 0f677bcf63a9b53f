import Dunlin
import DunlinTesting
import Foundation
import Testing

extension Recipes {
    @Suite struct `The health checker` {
        private static let folder = URL(filePath: #filePath).appending(path: "../..").standardized

        @Test func `has at most 75 lines`() throws {
            let source = Self.folder.appending(path: "HealthChecker/HealthChecker.swift")
            let lines = try String(contentsOf: source, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count - 1 <= 75)
            #expect(lines.allSatisfy { $0.count <= 120 })
        }

        @Test func `polls 200 services, no more than 20 at once, and tells which are up`() async throws {
            let services = try LoopbackServer()
            defer { services.stop() }
            // One in ten is down.
            services.respond { .response($0.target.hasSuffix("0") ? 503 : 200) }
            let urls = (1...200).map { "\(services.baseURL)/service/\($0)" }
            let checker = try RunningChecker(urls)
            defer { checker.kill() }
            let requests = try await services.waitForRequests(200)
            #expect(Set(requests.map(\.target)).count == 200)
            #expect(services.connectionCount <= 20)

            let text = try await checker.metrics { $0.matches(of: /service_up\{[^}]*\}/).count == 200 }
            #expect(text.matches(of: /service_up\{url="[^"]*0"\} 0/).count == 20)
            #expect(text.matches(of: /service_up\{url="[^"]*[1-9]"\} 1/).count == 180)
            #expect(text.contains("http_client_request_duration"))

            let log = try checker.log()
            for request in requests {
                let id = try #require(request.fields["X-Request-ID"])
                #expect(log.contains("dunlin.request.id=\(id)"))
                let traceparent = try #require(request.fields["traceparent"])
                #expect(traceparent.wholeMatch(of: /00-[0-9a-f]{32}-[0-9a-f]{16}-01/) != nil)
            }
            #expect(Set(requests.compactMap { $0.fields["X-Request-ID"] }).count == 200)
            #expect(Set(requests.compactMap { $0.fields["traceparent"] }).count == 200)
            #expect(services.failures.isEmpty)

            let down = try await checker.down()
            #expect(down.count == 20 && Set(down.values) == ["503 Service Unavailable"])

            #expect(try await checker.end() == 0)
        }
    }
}

/// The program in a process of its own, which reads URLs from a file and writes its log into one.
private struct RunningChecker {
    private let process = Process()
    private let output: URL

    init(_ urls: [String]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "health-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let input = folder.appending(path: "urls")
        output = folder.appending(path: "log")
        try Data(urls.joined(separator: "\n").utf8).write(to: input)
        try Data().write(to: output)
        let ours = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.executableURL = ours.deletingLastPathComponent().appending(path: "HealthChecker")
        process.arguments = ["0"]
        process.standardInput = try FileHandle(forReadingFrom: input)
        let log = try FileHandle(forWritingTo: output)
        process.standardOutput = log
        process.standardError = log
        try process.run()
    }

    func log() throws -> String { try String(contentsOf: output, encoding: .utf8) }

    /// What `body` gets from a session to the program, once that listens.
    private func asking<Value>(_ body: (HTTPSession) async throws -> Value) async throws -> Value {
        var port: Substring?
        try await eventually("the program listens") {
            port = try log().firstMatch(of: /listening on 127\.0\.0\.1:(\d+)/)?.1
            return port != nil
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(try #require(port))")
        let value = try await body(session)
        await session.shutdown()
        return value
    }

    /// What Prometheus gets, once it is as expected.
    func metrics(_ isExpected: (String) -> Bool) async throws -> String {
        try await asking { session in
            var text = ""
            try await eventually("the metrics are as expected") {
                text = try await session.get("metrics", as: .string).value
                return isExpected(text)
            }
            return text
        }
    }

    /// Why services are down, by their URLs.
    func down() async throws -> [String: String] {
        try await asking { try await $0.get("down", as: [String: String].self) }
    }

    /// Asks it to end, and returns its exit status.
    func end() async throws -> Int32 {
        process.terminate()
        try await eventually("the program ends") { !process.isRunning }
        try FileManager.default.removeItem(at: output.deletingLastPathComponent())
        return process.terminationStatus
    }

    func kill() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }
}
