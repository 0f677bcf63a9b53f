import Dunlin
import DunlinTesting

extension Recorded {
    /// Several stages at once.
    static let combined: [Recorded] =
        [
            all(
                "a retry, a redirect, a login and a cookie", .respond(503), .moved("/b", 302, ["Set-Cookie": "id=1"]),
                .asking(), .fresh("in")),
            all(
                "a redirect elsewhere, a login there and a retry", .moved("http://other.test/b"), .respond(503),
                .asking()),
            all(
                "a login that is followed by a redirect elsewhere", .asking(), .moved("http://other.test/b"),
                .respond(body: "there")),
            all(
                "what is stale is asked about through a retry and a login", .stale("old"), .respond(503), .asking(),
                .confirmed(["X-New": "1"])
            ) {
                take, session in
                await take.get("miss", session)
                await take.get("confirmed", session)
            },
            all(
                "a stored response that varies by a cookie meets a new one",
                .fresh("a", ["Vary": "Cookie", "Set-Cookie": "id=1"]), .fresh("b", ["Vary": "Cookie"])
            ) {
                take, session in
                for label in ["before", "after", "again"] { await take.get(label, session) }
            },
            all(
                "a stored redirect leads to a stored response", .moved("/b", 301, ["Cache-Control": "max-age=1000"]),
                .fresh("b")
            ) {
                take, session in
                for label in ["miss", "hit"] { await take.get(label, session) }
            },
            all(
                "a reset after a redirect is retried from its beginning", .moved("/b"), .fail(.connectionReset),
                .moved("/b"), .respond(body: "in")),
            all("a POST is redirected, refused and not retried", .moved("/b", 307), .respond(503), .respond(body: "in"))
            {
                take, session in
                await take.send(.post, session)
            },
            all(
                "a stream is retried, redirected and logged in", .respond(503), .moved("/b"), .asking(),
                .stream(["one", "two"])
            ) {
                take, session in
                await take.stream("stream", session)
            },
            all(
                "a download is retried, redirected and logged in", .respond(503), .moved("/b"), .asking(),
                .stream(["one", "two"])
            ) {
                take, session in
                await take.download("download", session)
            },
        ] + offline

    private static func all(
        _ name: String, _ answers: MockTransport.Outcome...,
        ask: @escaping @Sendable (Take, HTTPSession) async throws -> Void = { take, session in
            await take.get("get", session)
        }
    ) -> Recorded {
        Recorded(name) { configuration, _ in
            thrice(&configuration)
            password(&configuration)
            configuration.cookies = CookieJar()
            configuration.cache = HTTPSession.Cache()
        } play: { take, session in
            take.serve(answers)
            try await ask(take, session)
        }
    }

    private static let noWay = NetworkError(
        .connectionFailed, "no address accepted a connection", phase: .connect, isSafeToRetry: true,
        peer: "http://api.test",
        underlying: NetworkError.ConnectionFailures([
            .init(address: .v4(0x0101_0101, port: 80), errno: 101, reason: "Network is unreachable")
        ]))

    private static let offline: [Recorded] = [
        Recorded("without a network a request fails at once", .fail(noWay)),
        Recorded("a request waits for a network") { configuration, take in
            take.network.change(to: .notReachable)
            configuration.waitsForConnectivity = true
        } play: { take, session in
            take.serve(.fail(noWay), .respond(body: "there"))
            let task = try session.task("/a", as: .string)
            task.resume()
            try await eventually("it looks", following: take.network, within: .seconds(20)) {
                take.network.lookCount >= 1
            }
            take.network.change(to: .wifi)
            await take.noteNow("get") { try await task.response }
        },
    ]

    /// What needs sockets: connections that are reused and lost, proxies, damage on the wire.
    static let onLoopback: [Recorded] = [
        Recorded("a connection that the server closed is replaced", isOnLoopback: true) { take, session in
            try take.server().enqueue(
                .response(body: "one"), [.close], .response(body: "two"))
            await take.get("first", session)
            await take.get("second", session)
        },
        Recorded(
            "a guard refuses an address before anything is sent", isOnLoopback: true,
            { configuration, _ in configuration.guard = .publicInternet }
        ) { take, session in
            await take.get("get", session)
        },
        Recorded("a reset after half a head fails", isOnLoopback: true) { take, session in
            try take.server().enqueue([.send("HTTP/1.1 200 O"), .close])
            await take.get("get", session)
        },
        Recorded("a body that is cut off on the wire fails", isOnLoopback: true) { take, session in
            try take.server().enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close])
            await take.get("get", session)
        },
        Recorded("a redirect to another host takes no secret along", isOnLoopback: true) { take, session in
            let server = try take.server()
            server.enqueue(
                .response(302, fields: ["Location": "http://localhost:\(server.port)/b"]), .response(body: "there"))
            await take.get("get", session, "/a", .init(fields: ["Authorization": "Bearer t", "X-Plain": "p"]))
        },
        Recorded("a proxy asks for a password", isOnLoopback: true, proxy: Scenario.Proxy(user: "ada")) {
            take, session in
            try take.server().enqueue(.response(body: "one"))
            await take.get("get", session)
        },
        Recorded(
            "a proxy refuses a password", isOnLoopback: true, proxy: Scenario.Proxy(user: "ada", password: "wrong")
        ) { take, session in
            await take.get("get", session)
        },
    ]
}
