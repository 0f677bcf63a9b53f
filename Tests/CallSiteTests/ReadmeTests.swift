import Dunlin
import DunlinDisplay
import DunlinTesting
import Folders
import FoundationEssentials
import Testing

/// The snippets of the README and of the guide for users of AsyncHTTPClient, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Readme` {
    nonisolated struct User: Codable {
        let id: Int
        let name: String
    }

    private let transport = MockTransport()
    private let client: HTTPSession

    init() throws {
        let transport = transport
        transport.otherwise { request in
            switch request.path {
            case "/v1/users" where request.method == .get: .respond(json: [User]())
            case "/v1/users", "/v1/users/42": .respond(json: User(id: 42, name: "Ada"))
            case "/v1/users/7": .respond(.notFound, json: ["error": "no such user"])
            default: .respond(body: "bytes")
            }
        }
        client = try HTTPSession(baseURL: "https://api.example.com/v1/") {
            $0.transport = transport
            try $0.use(ManualClock())
        }
    }

    @Test func `the examples about first steps in the README run as written`() async throws {
        let draft = Draft()
        do {
            let client = try HTTPSession(baseURL: "https://api.example.com/v1/")

            #expect(!client.isShutDown)
        }
        do {
            let user = try await client.get("users/42", as: User.self)
            print(user.name)
        } catch {
            print(error)
        }

        let user = try await client.get("users/42", as: User.self)
        let found = try await client.get(
            "users", query: ["q": "ada", "page": 2],
            fields: ["X-Trace": "7"], timeout: .seconds(5), as: [User].self)
        let made = try await client.post(
            "users", json: draft, as: User.self)
        try await client.delete("users/42")

        let response = try await client.get("users/42", as: .json(User.self))
        print(response.status, response.value.name, response.metrics)

        do {
            try await client.delete("users/7")
        } catch let error as NetworkError where error.code == .unacceptableStatus {
            print(error)
        }

        let error = await #expect(throws: NetworkError.self) { try await client.delete("users/7") }
        #expect(
            isShown(
                try #require(error),
                as: """
                    DELETE https://api.example.com/v1/users/7: 404 Not Found:
                    {"error":"no such user"}
                    """))
        #expect(user.id == made.id && found.isEmpty)
    }

    @Test func `a user has a name`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/users/42").respond(json: User(id: 42, name: "Ada"))
        let client = try HTTPSession(
            .init(baseURL: "https://api.test", transport: transport))
        #expect(try await client.get("users/42", as: User.self).name == "Ada")
        #expect(transport.requests[0].target == "/users/42")
    }

    @Test func `the examples about streams and handles in the README run as written`() async throws {
        try await client.withResponse(from: "export") { response in
            for try await piece in response.body { print(piece.count) }
        }

        let task = try client.task("disk.img", as: .bytes)
        task.resume()
        for await step in task.downloadProgress {
            print(step.wireBytes, step.fraction ?? 0)
        }
        let image = try await task.value

        #expect(image == "bytes")
    }

    /// Compiled only: they write where a test must not, and on the terminal.
    private func downloads() async throws {
        do {
            let file = try await client.download(
                "images/disk.img", to: .file("/data/disk.img"),
                resuming: .ifValidatorMatches)

            print(file.value.path)
        }

        let task = try client.downloadTask(
            "images/disk.img", to: .file("/data/disk.img"))
        ProgressDisplay("disk.img").follow(task)
        let file = try await task.value
        await TerminalDisplay.standardError.finish()

        print(file.path)
        let form = try RequestBody.multipart { MultipartPart.field("title", "Waders") }
        let bar = ProgressDisplay("photos.zip")
        try await client.post("upload", body: form, progress: bar.show)
    }

    // MARK: - From AsyncHTTPClient

    private func retryLater() {}

    @Test func `the examples about everyday jobs in the README run as written`() async throws {
        let draft = Draft()
        let folder = try Folder()
        let path = "\(folder.path)/disk.img"
        var text = ""
        func handle(_ piece: Bytes) throws { text += String(piece) }

        let user = try await client.get(
            "users/42", timeout: .seconds(5), as: User.self)

        let made = try await client.post(
            "users", json: draft, as: User.self)

        try await client.withResponse(from: "export") { response in
            for try await piece in response.body { try handle(piece) }
        }

        let export = try await client.stream("export")
        for try await piece in export.body { try handle(piece) }

        let file = try await client.download(
            "images/disk.img", to: .file(path)
        ) { step in
            print(step.wireBytes, step.fraction ?? 0)
        }

        #expect(user.id == made.id && text == "bytesbytes" && file.value.path == path)
        do {
            try await client.get("users/42")
        } catch let error as NetworkError where error.exceeded == .readIdle {
            retryLater()
        }

        await client.shutdown()
    }
}
