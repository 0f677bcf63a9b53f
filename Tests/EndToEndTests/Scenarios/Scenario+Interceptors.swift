import Dunlin
import DunlinTesting
import Folders

extension Scenario {
    /// Interceptors around the call and around exchanges: what they see, and what comes of what they do.
    static let interceptors: [Scenario] = [
        Scenario("interceptors-add-fields") {
            $0.interceptors = [
                .call { request, next in
                    note("call", request, next)
                    return try await next(request) { $0.head.fields["X-Call"] = "1" }
                },
                .exchange { request, next in
                    note("exchange", request, next)
                    return try await next(request) { $0.head.fields["X-Exchange"] = "\(next.hop)" }
                },
            ]
        } _: { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/b"], body: "moved"), .response(body: "here"))
            await scene.noteGet("get")
            await scene.note("stream") {
                scene.server.enqueue(.response(body: "streamed"))
                return try await scene.read("c")
            }
        },
        Scenario("interceptors-answer-themselves") {
            $0.interceptors = [
                .call { request, next in
                    request.head.path == "/call" ? own("by the call's") : try await next(request)
                },
                .exchange { request, next in
                    request.head.path == "/exchange" ? own("by the exchange's") : try await next(request)
                },
            ]
        } _: { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/exchange"]))
            await scene.noteGet("call", "call")
            await scene.noteGet("exchange", "exchange")
            await scene.noteGet("redirected there")
            await scene.note("stream") { try await scene.read("call") }
            await scene.note("download") {
                try await scene.session.download("exchange", to: .file("\(scene.folder.path)/file"))
            }
            try scene.noteFiles()
        },
        Scenario("interceptors-ask-twice") {
            $0.interceptors = [
                .call { request, next in
                    let first = try await next(request)
                    return first.head.status == 404 ? try await next(request) { $0.head.target = "/b" } : first
                },
                .exchange { request, next in
                    let first = try await next(request)
                    RecordingHooks.transcript?.note("exchange: \(first.head.status.code), hop \(next.hop)")
                    return first.head.status == 503 ? try await next(request) : first
                },
            ]
        } _: { scene in
            scene.server.enqueue(
                .response(503, body: "busy"), .response(404, body: "none"), .response(503, body: "busy"),
                .response(body: "here"))
            await scene.note("put") { try await scene.session.put("a", body: .string("x"), as: .string) }
        },
        Scenario("interceptors-replace-bodies", chancy: [.firstByte]) {
            $0.interceptors = [
                .call { request, next in
                    let response = try await next(request) { $0.body = .string("another") }
                    return response.with { $0.body = .bytes("replaced") }
                },
                .exchange { request, next in
                    note("exchange", request, next)
                    return try await next(request)
                },
            ]
        } _: { scene in
            scene.server.enqueue(.response(307, fields: ["Location": "/b"]), .response(body: "hello"))
            await scene.note("post") { try await scene.session.post("a", body: .string("x"), as: .string) }
            scene.server.enqueue(.response(body: "hello"))
            let body = RequestBody.stream(UploadPieces(total: 1000), length: 1000)
            await scene.note("streamed") { try await scene.session.post("c", body: body, as: .string) }
        },
        Scenario("interceptors-throw") {
            $0.interceptors = [
                .call { request, next in
                    if request.head.path == "/before" { throw Own() }
                    let response = try await next(request)
                    if request.head.path == "/after" { throw Own() }
                    return response
                },
                .exchange { request, next in
                    let response = try await next(request)
                    if request.head.path == "/exchange" { throw NetworkError(.invalidResponse, "not this one") }
                    return response
                },
            ]
        } _: { scene in
            scene.server.respond { _ in .response(body: "hello") }
            for target in ["before", "after", "exchange", "well"] {
                await scene.noteGet(target, .init(target))
            }
            await scene.note("stream") { try await scene.read("after") }
        },
        Scenario("interceptors-over-a-retry", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            $0.retry = .constant(attempts: 3, every: .seconds(1))
            $0.interceptors = watching
        } _: { scene in
            scene.server.enqueue(
                LoopbackServer.Reply.response(body: "x").resetAfter(0), .response(302, fields: ["Location": "/b"]),
                .response(503), .response(body: "fit"))
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
        },
        Scenario("interceptors-that-throw-are-retried", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            $0.retry = .constant(attempts: 3, every: .seconds(1))
            $0.interceptors = [
                .exchange { request, next in
                    note("exchange", request, next)
                    if next.hop == 1 { throw NetworkError(.connectionFailed, "made up", isSafeToRetry: true) }
                    return try await next(request)
                }
            ]
        } _: { scene in
            scene.server.enqueue(.response(body: "fit"))
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
        },
        Scenario("interceptors-over-a-login") {
            withPassword(&$0)
            $0.cookies = CookieJar()
            $0.interceptors = watching
        } _: { scene in
            scene.server.enqueue(
                .response(
                    401, fields: ["WWW-Authenticate": "Basic realm=\"r\"", "Set-Cookie": "id=1"], body: "who?"),
                .response(body: "in"))
            await scene.note("post") { try await scene.session.post("a", body: .string("x"), as: .string) }
        },
        Scenario("interceptors-over-a-cache") {
            withCache(&$0)
            $0.interceptors = watching
        } _: { scene in
            scene.server.enqueue(.response(fields: ["Cache-Control": "max-age=100000"], body: "hello"))
            await scene.noteGet("miss")
            await scene.noteGet("hit")
        },
    ]

    /// Interceptors that are cancelled, do what they may not, or ask for more.
    static let interceptorEnds: [Scenario] = [
        Scenario("interceptors-cancelled", configure: { $0.interceptors = watching }) { scene in
            let reached = LoopbackServer.Gate()
            scene.server.enqueue([.signal(reached), .stall], .response(body: "next"))
            let running = Task { await scene.noteGet("get") }
            try await reached.opened()
            await scene.noteTasks("while it waits")
            running.cancel()
            await running.value
            await scene.noteGet("next")
        },
        Scenario("interceptors-cancelled-before-they-send") {
            $0.interceptors = [
                .call { request, next in
                    if request.head.path == "/next" { return try await next(request) }
                    RecordingHooks.transcript?.gate.open()
                    for await _ in AsyncStream<Void>.makeStream().stream {}
                    return try await next(request)
                }
            ]
        } _: { scene in
            scene.server.respond { _ in .response(body: "next") }
            let task = try scene.session.task("a", as: .string)
            task.resume()
            try await scene.transcript.gate.opened()
            await scene.noteTasks("while it thinks")
            task.cancel()
            await scene.note("get") { try await task.response }
            await scene.noteGet("next", "next")
        },
        Scenario("interceptors-ask-their-session") {
            $0.interceptors = [
                .call { request, next in
                    note("call", request, next)
                    let token = try await next.session?.get("token", as: .string).value ?? "none"
                    return try await next(request) { $0.head.fields["Authorization"] = "Bearer \(token)" }
                }
            ]
        } _: { scene in
            scene.server.route(.get, "/token", .response(body: "t"))
            scene.server.enqueue(.response(body: "in"))
            await scene.noteGet("get")
        },
        Scenario("interceptors-in-a-stream-left-early", configure: { $0.interceptors = watching }) { scene in
            await scene.leaveAfterAPiece()
            await scene.noteGet("next")
        },
        Scenario("interceptors-in-a-resumed-download", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            $0.interceptors = watching
        } _: { scene in
            scene.server.serve(.init(length: 3000, tag: "\"v1\""), at: "/a", faults: .short(after: 1000))
            await scene.note("download") {
                try await scene.movingOn {
                    try await scene.session.download(
                        "a", to: .file("\(scene.folder.path)/file"), resuming: .whileRunning)
                }
            }
            try scene.noteFiles()
        },
    ]

    private struct Own: Error {}

    /// One around the call and one around each exchange, which say what they see.
    static let watching: [HTTPSession.Interception] = [
        .call { request, next in try await watch("call", request, next) },
        .exchange { request, next in try await watch("exchange", request, next) },
    ]

    private static func watch(
        _ scope: String, _ request: TransportRequest, _ next: HTTPSession.Next
    ) async throws -> TransportResponse {
        note(scope, request, next)
        do {
            let response = try await next(request)
            RecordingHooks.transcript?.note("\(scope): answered \(response.head.status.code)")
            return response
        } catch {
            RecordingHooks.transcript?.note("\(scope): threw \((error as? NetworkError)?.code.rawValue ?? "\(error)")")
            throw error
        }
    }

    private static func note(_ scope: String, _ request: TransportRequest, _ next: HTTPSession.Next) {
        let names = request.head.fields.map(\.name).joined(separator: " ")
        RecordingHooks.transcript?.note(
            "\(scope): \(request.head.method) \(request.head.target), hop \(next.hop), fields \(names)")
    }

    private static func own(_ text: String) -> TransportResponse {
        TransportResponse(head: ResponseHead(status: 200, fields: ["X-Own": "1"]), body: .bytes(Bytes(text)))
    }
}
