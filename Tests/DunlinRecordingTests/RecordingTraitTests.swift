import Dunlin
import Testing

@testable import DunlinRecording
@testable import DunlinRecordingTesting

@Suite(.timeLimit(.minutes(10))) struct `A test with a recording` {
    @Test(.recording("users")) func `requests of the test are answered from the archive beside it`() async throws {
        let client = try HTTPSession(.init(baseURL: "https://api.example.com", transport: .recorded))
        let user = try await client.get("users/42", as: DynamicValue.self)
        #expect(user == ["id": 42, "name": "Ada"])
    }

    @Test func `what is recorded is said by the environment, and nothing is in CI`() throws {
        let modes: [([String: String], RecordedTransport.Mode)] = [
            ([:], .replay), (["DUNLIN_RECORDING": ""], .replay), (["DUNLIN_RECORDING": "missing"], .recordMissing),
            (["DUNLIN_RECORDING": "anew"], .recordAnew), (["DUNLIN_RECORDING": "anew", "CI": "true"], .replay),
        ]
        for (environment, mode) in modes { #expect(try RecordingTrait.mode(in: environment) == mode) }
        #expect(throws: HAR.Problem.self) { try RecordingTrait.mode(in: ["DUNLIN_RECORDING": "new"]) }
    }

    @Test func `the archive is beside the test's file, or where a path says`() {
        #expect(RecordingTrait.recording("a", sourceFile: "/x/y/T.swift").path == "/x/y/Recordings/a.har")
        #expect(RecordingTrait.recording("/z/a.har", sourceFile: "/x/y/T.swift").path == "/z/a.har")
    }
}
