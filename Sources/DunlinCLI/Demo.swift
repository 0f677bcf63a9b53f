import Dunlin
import DunlinCommandLine
import DunlinTesting

/// `dunlin demo`: requests to a server inside the command, each with the durations of its phases, and downloads to
/// watch.
struct Demo {
    private let output: Output
    private let server: LoopbackServer
    private let session: HTTPSession

    private struct User: Decodable {
        let id: Int
        let name: String
    }

    init(_ output: Output) throws {
        self.output = output
        server = try LoopbackServer()
        session = try HTTPSession(.init(baseURL: server.baseURL))
        arrange()
    }

    func run() async throws {
        output.print("Requests to a server inside this command, at \(server.baseURL)")
        try await get()
        try await stream()
        try await cancel()
        try await timeOut()
        heading("5. Three downloads at once", "ProgressDisplay(\"disk.img\").follow(task)")
        try await LiveDemo(output, server, session).run()
        await session.shutdown()
        server.stop()
    }

    private func arrange() {
        let json: Fields = ["Content-Type": "application/json"]
        server.route(.get, "/users/42", .response(fields: json, body: #"{"id": 42, "name": "Ada Lovelace"}"#))
        server.route(.get, "/report", Self.drip(pieces: 5, of: 12 * 1024, every: .milliseconds(40)))
        server.route(.get, "/silence", [.stall])
    }

    /// A chunked body whose pieces come one by one.
    private static func drip(pieces: Int, of size: Int, every pause: Duration) -> LoopbackServer.Reply {
        let whole = LoopbackServer.Reply.chunked(
            (0..<pieces).map { LoopbackServer.GeneratedBody.bytes($0 * size..<($0 + 1) * size) })
        return LoopbackServer.Reply(whole.steps.flatMap { [$0, .pause(pause)] }.dropLast())
    }
}

// MARK: - The four

extension Demo {
    private func get() async throws {
        heading("1. A GET, decoded from JSON", #"client.get("users/42", as: .json(User.self))"#)
        let response = try await session.get("users/42", as: .json(User.self))
        output.print("   \(response.status): id \(response.value.id), \(response.value.name)")
        show(response.metrics)
    }

    private func stream() async throws {
        heading("2. A body read while it arrives", #"client.withResponse(from: "report") { … }"#)
        try await session.withResponse(from: "report") { response in
            let start = ContinuousClock.now
            var count = 0
            for try await piece in response.body {
                count += piece.count
                let elapsed = ContinuousClock.now - start
                let bar = String(repeating: "▪", count: count / 2048)
                output.print("   \(padded(elapsed.readable, 9))  \(padded(count.readableBytes, 7))  \(bar)")
            }
            show(response.metrics)
        }
    }

    private func cancel() async throws {
        heading("3. A request cancelled while it waits", "client.tasks.cancel(id)")
        let asked = server.requests.count
        async let answer = failure(of: "silence", HTTPSession.Options())
        _ = try await server.waitForRequests(asked + 1)
        for task in await session.tasks.all { await session.tasks.cancel(task.id) }
        show(await answer)
    }

    private func timeOut() async throws {
        heading("4. A request that runs into its limit", "timeouts: .init(firstByte: .milliseconds(150))")
        let timeouts = HTTPSession.RequestTimeouts(firstByte: .milliseconds(150))
        show(await failure(of: "silence", HTTPSession.Options(timeouts: timeouts)))
    }

    private func failure(of target: HTTP.Target, _ options: HTTPSession.Options) async -> any Error {
        do {
            let response = try await session.get(target, options: options, as: .bytes)
            return NetworkError(.invalidResponse, "an answer came after all: \(response.status)")
        } catch {
            return error
        }
    }
}

// MARK: - On the terminal

extension Demo {
    private func heading(_ title: String, _ code: String) {
        output.print("\n\(title)\n   \(code)")
    }

    private func show(_ metrics: HTTPSession.Metrics) {
        for line in metrics.description.split(separator: "\n") { output.print("   \(line)") }
    }

    private func show(_ error: any Error) {
        guard let error = error as? NetworkError else { return output.print("   \(error)") }
        output.print("   \(error.code): \(error.reason)")
        if let ending = ErrorText.ending(of: error) { output.print("   ended \(ending)") }
    }

    private func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
