import Dunlin
import DunlinInflate
import DunlinTesting

extension Recorded {
    /// One exchange without any stage's part in it: what is asked, refused, damaged, late or given up.
    static let exchanges = verbs + refusals + damages + late

    private static let verbs: [Recorded] =
        [HTTP.Method.get, .head, .post, .put, .delete, .patch].map { method in
            Recorded("a \(method) is answered", .respond(fields: ["X-Own": "1"], body: method == .head ? "" : "hello"))
            {
                take, session in
                await take.send(method, session, "/a?q=1", body: method.isSafe ? .none : .string("body"))
            }
        } + [
            Recorded("parameters, fields and JSON are written into a request", .respond(json: ["id": 1])) {
                take, session in
                await take.note("post") {
                    try await session.post(
                        "b/../a", query: ["q": "x y", "n": 1], fields: ["X-Call": "1", "Accept": "text/plain"],
                        json: ["name": "Ada"], as: .string)
                }
            },
            Recorded("a request to another origin has none of the base URL's fields", .respond(body: "there")) {
                $0.originFields = ["X-Key": "secret"]
            } ask: { take, session in
                await take.get("elsewhere", session, "http://other.test/a")
            },
            Recorded("a request to the base URL has the origin's fields", .respond(body: "here")) {
                $0.originFields = ["X-Key": "secret"]
                $0.fields["User-Agent"] = "own"
            },
        ]

    private static let refusals: [Recorded] =
        [400, 401, 403, 404, 407, 429, 500, 503].map { code in
            Recorded("a \(code) is refused with its body", .respond(.init(code), body: "refused"))
        } + [
            Recorded("a 404 is a value for whom every status is one", .respond(.notFound, body: "none")) {
                take, session in
                await take.get("get", session, "/a", .init(validatesResponse: false))
            },
            Recorded("a session may accept a 404", .respond(.notFound, body: "none")) {
                $0.acceptedStatuses = [404]
            },
            Recorded(
                "JSON of another content type is refused", .respond(fields: ["Content-Type": "text/html"], body: "<p>")
            ) { take, session in
                await take.note("get") { try await session.get("/a", as: [String: Int].self) }
            },
            Recorded(
                "JSON that cannot be decoded fails with its body",
                .respond(fields: ["Content-Type": "application/json"], body: "{\"id\":")
            ) { take, session in
                await take.note("get") { try await session.get("/a", as: [String: Int].self) }
            },
            Recorded("a body over the limit is refused", .stream(["01234", "56789"])) { take, session in
                await take.get("get", session, "/a", .init(bodyLimit: 7))
            },
            Recorded("a target that is no URL is refused before anything is sent") { take, session in
                await take.get("get", session, "http://[::1/")
            },
            Recorded("a session that is shut down sends nothing") { take, session in
                await session.shutdown()
                await take.get("get", session)
            },
        ]

    private static let damages: [Recorded] = [
        Recorded("a body that is cut off fails with what came", .stream(["abc"], length: 10)),
        Recorded("a body that breaks in the middle fails", .stream(["abc"], length: 10, failing: reset)),
        Recorded("a gzip body that is damaged fails", .respond(fields: ["Content-Encoding": "gzip"], body: "no gzip")),
        Recorded("a coding that is unknown is refused", .respond(fields: ["Content-Encoding": "own"], body: "x")),
        Recorded("a gzip body is decoded", .respond(fields: ["Content-Encoding": "gzip"], body: zipped)),
        Recorded(
            "a gzip body is left as it is for whom asks so", .respond(fields: ["Content-Encoding": "gzip"], body: "x")
        ) { take, session in
            await take.get("get", session, "/a", .init(decodesContent: false))
        },
        Recorded("trailers come with their response", .stream(["abc"], trailers: ["X-Sum": "1"])),
    ]

    private static let late: [Recorded] =
        [
            ("a connection that is reset", MockTransport.Failure.connectionReset),
            ("a connection that is refused", .connectionRefused), ("a name that is unknown", .nameNotResolved),
            ("a connection that takes too long", .timedOut(.connect)),
            ("a first byte that takes too long", .timedOut(.firstByte)),
        ].map { what, failure in
            Recorded("\(what) fails a GET", .fail(failure))
        } + [
            Recorded("a server that never answers is given up when the total time is over", .never) { take, session in
                let task = try session.task("/a", options: .init(timeouts: .init(total: .seconds(7))), as: .string)
                task.resume()
                try await take.mock.waitForRequests(1)
                try await take.clock.advance(by: .seconds(7))
                await take.noteNow("get") { try await task.response }
            },
            Recorded("a request is cancelled by its handle", .never) { take, session in
                let task = try session.task("/a", as: .string)
                task.resume()
                try await take.mock.waitForRequests(1)
                task.cancel()
                await take.noteNow("get") { try await task.response }
            },
            Recorded("a request is cancelled with its task", .never) { take, session in
                let running = Task { await take.noteNow("get") { try await session.get("/a", as: .string) } }
                try await take.mock.waitForRequests(1)
                running.cancel()
                await running.value
            },
            Recorded("a shutdown cancels what runs", .never) { take, session in
                let running = Task { await take.noteNow("get") { try await session.get("/a", as: .string) } }
                try await take.mock.waitForRequests(1)
                await session.shutdown()
                await running.value
            },
        ]

    static let reset = NetworkError(
        .connectionClosed, "reset", phase: .receive, requestMayHaveBeenSent: true, isSafeToRetry: true)

    private static let zipped = (try? `Content codings`.coded(Bytes("hello hello hello"), [.gzip])) ?? .empty
}
