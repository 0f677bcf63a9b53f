import Dunlin
import DunlinRecording
import DunlinRecordingTesting
import DunlinTesting
import Folders
import Foundation
import Testing

/// The snippets of the articles about recordings.
@Suite(.timeLimit(.minutes(10))) struct `Guide to recordings` {
    @Test func `a session is recorded as written`() async throws {
        let own = try Folder(with: "a")
        let folder = own.path
        let backend = MockTransport()
        backend.otherwise { _ in .respond(json: User(id: 42, name: "Ada")) }
        var configuration = HTTPSession.Configuration(baseURL: "https://api.example.com", transport: backend)
        do {
            let recorder = try HARRecorder("\(folder)/today.har")
            configuration.observers.append(recorder)
            let client = try HTTPSession(configuration)

            try await recorder.finish()
            #expect(client.configuration.observers.count == 1)
            try FileManager.default.removeItem(atPath: "\(folder)/today.har")
        }
        configuration.observers = []
        do {
            let recorder = try HARRecorder(
                "\(folder)/today.har", .init(bodyLimit: 100_000))
            configuration.observers.append(recorder)
            let client = try HTTPSession(configuration)
            _ = try await client.get("users/42", as: User.self)
            await client.shutdown()
            try await recorder.finish()
        }
        try FileManager.default.moveItem(atPath: "\(folder)/today.har", toPath: "\(folder)/users.har")
        do {
            let transport = try RecordedTransport("\(folder)/users.har")
            let client = try HTTPSession(
                .init(baseURL: "https://api.example.com", transport: transport))
            let user = try await client.get("users/42", as: User.self)
            try await transport.finish()

            #expect(user == User(id: 42, name: "Ada"))
        }
    }

    @Test(.recording("users"))
    func `a user has a name`() async throws {
        let client = try HTTPSession(
            .init(baseURL: "https://api.example.com", transport: .recorded))
        let user = try await client.get("users/42", as: User.self)
        #expect(user.name == "Ada")
    }
}
