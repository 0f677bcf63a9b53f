import Dunlin
import DunlinDisplay
import DunlinTesting
import Testing

private nonisolated func addingStyle(to text: String) -> String { "<style></style>\(text)" }

/// The snippets of the guides to displays and documents, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guides to displays` {
    /// Compiled only: these draw on the terminal of whoever runs the tests.
    private func spinner(_ task: HTTPSession.RequestTask<Bytes>) async {
        let spinner = Spinner("asking")
        let observer = ActivityObserver(spinner)
        await observer.follow(task)
    }

    private func album(_ client: HTTPSession, _ album: RequestBody) async throws {
        let bar = ProgressDisplay("album")
        let receipt = try await client.post(
            "albums/7", body: album, progress: bar.show,
            as: Receipt.self)
        await TerminalDisplay.standardError.finish()
        print(receipt)
    }

    @Test func `a waterfall of a request is drawn as written`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/users/42").respond(body: "Ada")
        let client = try HTTPSession(baseURL: "https://api.test/") { $0.transport = transport }
        let response = try await client.get("users/42", as: .string)
        for line in Waterfall(response.metrics).lines(width: 64) {
            print(line)
        }
        #expect(Waterfall(response.metrics).lines(width: 64).allSatisfy { !$0.isEmpty })
    }

    private func uploads(_ client: HTTPSession, _ form: RequestBody) async throws {
        let bar = ProgressDisplay("photos.zip")
        try await client.post("upload", body: form, progress: bar.show)

        try await client.withUpload(
            to: "upload", body: form, as: .bytes
        ) { upload in
            ProgressDisplay("photos.zip").follow(upload)
            _ = try await upload.value
        }

        let task = try client.task("upload", method: .post, body: form)
        ProgressDisplay("photos.zip").follow(task, .upload)
        _ = try await task.value
    }

    @Test func `the examples about documents in HTML run as written`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/").respond(fields: ["Content-Type": "text/html"], body: "<p>hello")
        transport.on(.get, "/page").respond(fields: ["Content-Type": "text/html"], body: "<p>page")
        let client = try HTTPSession(baseURL: "https://example.com/") { $0.transport = transport }
        var shown: [String] = []
        func show(_ text: String, relativeTo baseURL: String?) { shown += [text, baseURL ?? ""] }
        do {
            let loader = HTMLDocumentLoader()

            #expect(await loader.currentLoad == nil)
        }

        let loader = HTMLDocumentLoader(session: client)
        do {
            let document = try await loader.load("https://example.com/")
            show(document.text, relativeTo: document.baseURL)

            #expect(shown == ["<p>hello", "https://example.com/"])
        }

        let document = try await loader.load("page") { document in
            var document = document
            document.text = addingStyle(to: document.text)
            return document
        }

        #expect(document.text == "<style></style><p>page")
    }
}
