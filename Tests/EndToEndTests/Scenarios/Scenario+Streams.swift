import Dunlin
import DunlinInflate
import DunlinTesting

extension Scenario {
    /// Responses that are read as they come, and everything that may happen meanwhile.
    static let longStreams: [Scenario] = [
        Scenario("stream-left-after-a-piece") { scene in
            await scene.leaveAfterAPiece()
            await scene.note("next") { try await scene.session.get("b", as: .bytes) }
        },
        Scenario("stream-then-another") { scene in
            scene.server.enqueue(.response(body: "one"), .response(body: "two"))
            await scene.note("first") { try await scene.read("a") }
            await scene.note("second") { try await scene.read("b") }
        },
        Scenario("stream-within-a-stream") { scene in
            scene.server.route(.get, "/a", .response(body: "outer"))
            scene.server.route(.get, "/b", .response(body: "inner"))
            await scene.note("outer") {
                try await scene.session.withResponse(from: "a") { response in
                    await scene.note("inner") { try await scene.read("b") }
                    return try await scene.text(response)
                }
            }
        },
        Scenario("stream-read-twice") { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("stream") {
                try await scene.session.withResponse(from: "a") { response in
                    await scene.note("first") { try await scene.text(response) }
                    return try await scene.text(response)
                }
            }
        },
        Scenario("stream-gzip") { scene in
            let coded = try `Content codings`.coded(Bytes(Array(repeating: 65, count: 5000)), [.gzip])
            scene.server.route(.get, "/a", .response(fields: ["Content-Encoding": "gzip"], body: coded))
            await scene.note("decoded") { try await scene.read("a") }
            await scene.note("as it is") {
                try await scene.session.withResponse(from: "a", options: .init(decodesContent: false)) {
                    try await scene.text($0)
                }
            }
        },
        Scenario("stream-gzip-broken") { scene in
            scene.server.enqueue(.response(fields: ["Content-Encoding": "gzip"], body: "no gzip at all"))
            await scene.note("stream") { try await scene.read("a") }
        },
        Scenario("stream-trailers") { scene in
            scene.server.enqueue(LoopbackServer.Reply.chunked(["one", "two"], trailers: ["X-Sum": "6"]).inOnePiece)
            await scene.note("stream") { try await scene.read("a") }
        },
        Scenario("stream-head") { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("stream") { try await scene.read("a", method: .head) }
        },
        Scenario("stream-cancelled-while-reading") { scene in
            let running = try await scene.reading()
            await scene.noteTasks("while it reads")
            running.cancel()
            await running.value
        },
        Scenario("stream-cancelled-by-the-registry") { scene in
            let running = try await scene.reading()
            let count = await scene.session.tasks.cancelAll()
            await running.value
            scene.transcript.note("cancelled: \(count)")
        },
        Scenario("stream-outlives-its-scope") { scene in
            scene.server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .stall])
            await scene.note("afterwards") {
                let body = try await scene.session.withResponse(from: "a") { $0.body }
                for try await _ in body {}
            }
        },
        Scenario("stream-retries-exhausted", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            $0.retry = .constant(attempts: 2, every: .seconds(1))
        } _: { scene in
            scene.server.respond { _ in .response(503, body: "busy") }
            await scene.note("stream") { try await scene.skippingWaits { try await scene.read("a") } }
        },
        Scenario("stream-broken-is-not-retried", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            $0.retry = .constant(attempts: 3, every: .seconds(1))
        } _: { scene in
            scene.server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close])
            await scene.note("stream") { try await scene.skippingWaits { try await scene.read("a") } }
        },
        Scenario("stream-refused") { scene in
            await scene.note("stream") { try await scene.read("http://127.0.0.1:1/a") }
        },
        Scenario("stream-answered-before-its-body-was-sent", chancy: [.firstByte]) { scene in
            scene.server.enqueue(LoopbackServer.Reply.chunked(["one", "two"]).beforeBody)
            let (pieces, sink) = AsyncThrowingStream<Bytes, any Error>.makeStream()
            sink.yield("first")
            await scene.note("stream") {
                try await scene.session.withResponse(from: "a", method: .post, body: .stream(pieces)) { response in
                    var text = ""
                    for try await piece in response.body {
                        sink.yield("second")
                        sink.finish()
                        text += String(decoding: piece.array, as: UTF8.self)
                    }
                    return text
                }
            }
        },
        Scenario("stream-upload-fails", chancy: [.firstByte], hasWire: false) { scene in
            let body = RequestBody.stream(UploadPieces(total: 50_000, failingAt: 20_000))
            await scene.note("stream") { try await scene.read("a", method: .post, body: body) }
        },
    ]

    /// Uploads with a handle that end otherwise than planned.
    static let stoppedUploads: [Scenario] = [
        Scenario("upload-scope-left", chancy: [.firstByte]) { scene in
            let reached = LoopbackServer.Gate()
            scene.server.enqueue([.signal(reached), .stall])
            await scene.note("upload") {
                try await scene.session.withUpload(to: "a", body: .string("hello"), as: .string) { _ in
                    try await reached.opened()
                    return "left"
                }
            }
        },
        Scenario("upload-scope-throws", chancy: [.firstByte]) { scene in
            struct Enough: Error {}
            let reached = LoopbackServer.Gate()
            scene.server.enqueue([.signal(reached), .stall])
            await scene.note("upload") {
                try await scene.session.withUpload(to: "a", body: .string("hello"), as: .string) { _ in
                    try await reached.opened()
                    throw Enough()
                }
            }
        },
        Scenario("upload-scope-cancelled", chancy: [.firstByte]) { scene in
            let reached = LoopbackServer.Gate()
            scene.server.enqueue([.signal(reached), .stall])
            let running = Task {
                await scene.note("upload") {
                    try await scene.session.withUpload(to: "a", body: .string("hello"), as: .string) {
                        try await $0.response
                    }
                }
            }
            try await reached.opened()
            await scene.noteTasks("while it waits")
            running.cancel()
            await running.value
        },
        Scenario("upload-scope-sees-progress", chancy: [.firstByte]) { scene in
            scene.server.enqueue(.response(body: "taken"))
            let body = RequestBody.stream(UploadPieces(total: 50_000), length: 50_000)
            await scene.note("upload") {
                try await scene.session.withUpload(to: "a", body: body, as: .string) { upload in
                    var last = 0
                    for await step in upload.uploadProgress { last = step.wireBytes }
                    return try await "\(last) bytes, then \(upload.value)"
                }
            }
        },
    ]
}

extension Scene {
    /// What the rest of a streamed response is.
    func text(_ response: HTTPSession.StreamedResponse) async throws -> String {
        var count = 0
        for try await piece in response.body { count += piece.count }
        let trailers = response.body.trailers.map { "\($0.name): \($0.value)" }
        return "\(response.status.code), \(count) bytes, trailers \(trailers)" + transcript.text(response.metrics)
    }
}
