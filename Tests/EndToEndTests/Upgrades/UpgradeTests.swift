import Dunlin
import DunlinTesting
import DunlinTypes
import LedgerRows
import Synchronization
import Testing

extension HTTPSession.UpgradedConnection {
    /// Reads until there are this many bytes, or the end.
    func read(count: Int) async throws -> Bytes {
        var bytes: [UInt8] = []
        while bytes.count < count, let piece = try await read() { bytes += piece.array }
        return Bytes(bytes)
    }

    /// Reads to the end.
    func readAll() async throws -> Bytes { try await read(count: .max) }
}

extension Stage {
    func upgradeFailure(
        to protocols: [String] = ["foo"], options: HTTPSession.Options = .init()
    ) async throws -> NetworkError {
        try await NetworkError.thrown { _ = try await session.upgrade("x", to: protocols, options: options) }
    }
}

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Upgrades` {
    @Test(.rules("9110-7.6.1-2", "9110-7.8-1", "6455-4.1-10"))
    func `a connection speaks the protocol that the server chose of those offered`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "bar", .expect("ping"), .send("pong"), .expect("bye")))
            let connection = try await stage.session.upgrade("x?y=1", to: ["foo/2", "Bar"], fields: ["X-A": "1"])
            #expect(connection.protocol == "Bar" && connection.protocols == ["Bar"])
            #expect(connection.head.status == .switchingProtocols)
            try await connection.write("ping")
            #expect(try await connection.read(count: 4) == "pong")
            try await connection.write("bye")
            #expect(try await connection.read() == nil)
            try await connection.finishWriting()
            #expect(!connection.isOpen)
            let request = try #require(stage.server.requests.first)
            #expect(request.method == .get && request.target == "/x?y=1" && request.fields["X-A"] == "1")
            #expect(request.fields["Connection"] == "Upgrade" && request.fields["Upgrade"] == "foo/2, Bar")
            #expect(!request.fields.contains("Accept-Encoding"))
            let hop = try #require(connection.metrics.hops.last)
            #expect(hop.bodyBytes == 4 && hop.bytesSent > 7 && hop.bytesReceived > 4)
            // It serves no other request.
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 2)
        }
    }

    @Test(arguments: [0, 1, 100, 5000, 1 << 20])
    func `bytes that come with the head are read first`(count: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let ahead = LoopbackServer.GeneratedBody.bytes(0..<count)
            let head = LoopbackServer.Message(
                .switchingProtocols, fields: ["Connection": "upgrade", "Upgrade": "foo"], body: ahead)
            stage.server.enqueue([.message(head), .send("end"), .close])
            let connection = try await stage.session.upgrade("x", to: "foo")
            let all = try await connection.readAll()
            #expect(all == Bytes(ahead.array + Array("end".utf8)))
            connection.close()
        }
    }

    @Test(arguments: [1, 2, 7]) func `a 101 may come in small pieces`(size: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(LoopbackServer.Reply.upgrade(to: "foo", .send("abc")).dripping(size))
            let connection = try await stage.session.upgrade("x", to: "foo")
            #expect(try await connection.readAll() == "abc")
            connection.close()
        }
    }

    @Test func `interim responses may come before the 101`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(
                LoopbackServer.Reply.upgrade(to: "foo", .echo).precededBy(interim: 103, ["Link": "a"]))
            let connection = try await stage.session.upgrade("x", to: "foo")
            try await connection.write("a")
            #expect(try await connection.read() == "a")
            connection.close()
        }
    }

    @Test(
        .rules("9110-7.8-3"),
        arguments: [
            "Upgrade: foo", "Connection: upgrade", "Connection: upgrade\r\nUpgrade: other",
            "Connection: upgrade\r\nUpgrade: foo, other", "Connection: upgrade\r\nUpgrade: foo/2",
            "Connection: upgrade\r\nUpgrade: foo\r\nContent-Length: 5",
            "Connection: upgrade\r\nUpgrade: foo\r\nTransfer-Encoding: chunked", "Connection: close\r\nUpgrade: foo",
        ])
    func `a 101 that does not answer the offer is an error, and its connection is closed`(fields: String) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue([.send(Bytes("HTTP/1.1 101 Switching Protocols\r\n\(fields)\r\n\r\nrest")), .drain])
            let error = try await stage.upgradeFailure()
            #expect(error.code == .invalidResponse && error.requestMayHaveBeenSent, "\(error)")
            try await stage.server.wait { $0.open == 0 }
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test func `a 101 of HTTP 1.0 is an error`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(
                [.send("HTTP/1.0 101 Switching\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n"), .drain])
            #expect(try await stage.upgradeFailure().code == .invalidResponse)
            try await stage.server.wait { $0.open == 0 }
        }
    }

    @Test(.rules("9110-7.8-4")) func `what follows a 101 is not HTTP, even if it looks like another 101`() async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            let again: Bytes = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n"
            stage.server.enqueue([.send(Bytes(again.array + again.array)), .close])
            let connection = try await stage.session.upgrade("x", to: "foo")
            #expect(try await connection.readAll() == again)
            connection.close()
        }
    }

    @Test(arguments: [200, 204, 302, 400, 426, 500] as [HTTP.Status])
    func `a server that answers with HTTP has refused, and the error has its response`(status: HTTP.Status) async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            let body: Bytes = status == 204 ? "" : "no such thing"
            stage.server.route(.get, "/x", .response(status, fields: ["Upgrade": "bar", "Location": "/y"], body: body))
            let error = try await stage.upgradeFailure()
            #expect(error.code == .upgradeRefused, "\(error)")
            #expect(error.response?.status == status && error.response?.fields["Upgrade"] == "bar")
            #expect(error.body == body && error.request?.method == .get)
            #expect(stage.server.requests.map(\.target) == ["/x"], "no redirect is followed")
            // HTTP goes on, on the same connection.
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `a long refusal is kept up to the limit for errors`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.generated(length: 1 << 20, status: 500))
            let error = try await stage.upgradeFailure(options: .init(errorBodyLimit: .value(1000)))
            #expect(error.code == .upgradeRefused && error.body?.count == 1000)
        }
    }

    @Test(.rules("6455-4.1-18")) func `a password is sent when the server asks for one, and then the upgrade succeeds`()
        async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(
                .response(401, fields: ["WWW-Authenticate": "Digest realm=\"a\", nonce=\"b\", qop=\"auth\""]),
                .upgrade(to: "foo", .echo))
            let options = HTTPSession.Options(credentials: .value(.digest(user: "ada", password: "pw")))
            let connection = try await stage.session.upgrade("x", to: "foo", options: options)
            try await connection.write("a")
            #expect(try await connection.read() == "a")
            connection.close()
            let requests = stage.server.requests
            #expect(requests.count == 2 && requests.allSatisfy { $0.fields["Upgrade"] == "foo" })
            #expect(requests.last?.fields["Authorization"]?.hasPrefix("Digest ") == true)
        }
    }

    @Test func `what cannot be offered is refused before anything is sent`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            for protocols in [[], ["a b"], ["foo", "FOO"], ["a\r\nHost: b"]] {
                #expect(try await stage.upgradeFailure(to: protocols).code == .invalidRequest)
            }
            for name in ["Connection", "Upgrade"] {
                let options = HTTPSession.Options(fields: Fields([name: "close"]))
                #expect(try await stage.upgradeFailure(options: options).code == .invalidRequest)
            }
            let error = try await NetworkError.thrown {
                _ = try await stage.session.upgrade("x", to: "foo", method: .connect)
            }
            #expect(error.code == .invalidRequest)
            #expect(stage.server.connectionCount == 0)
        }
    }

    @Test(.rules("9110-7.8-2")) func `a request with a body is sent whole before the protocol changes`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .echo))
            let connection = try await stage.session.upgrade("x", to: "foo", method: .post, body: .string("body"))
            try await connection.write("more")
            #expect(try await connection.read(count: 4) == "more")
            connection.close()
            #expect(stage.server.requests.first?.body == "body")
        }
    }

    @Test(.rules("9110-7.8-2")) func `a 101 before the request's end is an error`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(
                LoopbackServer.Reply.raw(
                    "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n"
                ).beforeBody)
            let body = RequestBody.stream(UploadPieces(total: 64 << 20))
            let error = try await NetworkError.thrown {
                _ = try await stage.session.upgrade("x", to: "foo", method: .post, body: body)
            }
            #expect(error.code == .invalidResponse, "\(error)")
            try await stage.server.wait { $0.open == 0 }
        }
    }

    @Test(arguments: [(HTTP.Method.get, 2), (.post, 1)])
    func `a request that does nothing is tried again before a 101, and no other`(
        method: HTTP.Method, count: Int
    ) async throws {
        try await Stage.with(configure: { $0.retry = .constant(attempts: 2, every: .zero) }) {
            (stage: Stage) async throws in
            stage.server.enqueue(.response(503), .upgrade(to: "foo", .echo))
            let connection = try? await stage.session.upgrade("x", to: "foo", method: method)
            #expect((connection != nil) == (count == 2))
            #expect(stage.server.requests.count == count)
            connection?.close()
        }
    }

    @Test(arguments: [(HTTP.Method.get, 2), (.put, 1)])
    func `a request that another connection was just closing is sent again only if it does nothing`(
        method: HTTP.Method, count: Int
    ) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(LoopbackServer.Reply.response(body: "a").closingOnNextRequest)
            _ = try await stage.session.get("first", as: .string)
            stage.server.enqueue(.upgrade(to: "foo", .echo))
            do {
                try await stage.session.upgrade("x", to: "foo", method: method).close()
                #expect(count == 2)
            } catch let error as NetworkError {
                #expect(count == 1 && error.code == .connectionClosed && !error.isSafeToRetry, "\(error)")
            }
            #expect(stage.server.connectionCount == count)
        }
    }

    @Test func `a guard that forbids the server forbids the upgrade`() async throws {
        try await Stage.with(configure: { $0.guard = .publicInternet }) { (stage: Stage) async throws in
            #expect(try await stage.upgradeFailure().code == .guardRefused)
            #expect(stage.server.connectionCount == 0)
        }
    }

    @Test(.rules("6455-4.1-24")) func `cookies go with the request, and those of a 101 are kept`() async throws {
        try await Stage.with(configure: { $0.cookies = CookieJar() }) { (stage: Stage) async throws in
            stage.server.route(
                .get, "/x", .response(200, fields: ["Set-Cookie": "a=1"]),
                .upgrade(to: "foo", fields: ["Set-Cookie": "b=2"], .echo))
            #expect(try await stage.upgradeFailure().code == .upgradeRefused)
            try await stage.session.upgrade("x", to: "foo").close()
            try await stage.expectHealthy()
            let sent = stage.server.requests.map { $0.fields["Cookie"] }
            #expect(sent == [nil, "a=1", "a=1; b=2"])
        }
    }

    @Test func `a cache is not asked, and stores nothing of an upgrade`() async throws {
        try await Stage.with(configure: { $0.cache = HTTPSession.Cache() }) { (stage: Stage) async throws in
            stage.server.route(.get, "/x", .response(200, fields: ["Cache-Control": "max-age=100"], body: "kept"))
            _ = try await stage.session.get("x", as: .string)
            #expect(try await stage.upgradeFailure().body == "kept")
            #expect(try await stage.upgradeFailure().body == "kept")
            #expect(stage.server.requests.count == 3)
        }
    }

    @Test func `hooks, events and interceptors see an upgrade like any request`() async throws {
        let seen = Mutex<[String]>([])
        @Sendable func note(_ what: String) { seen.withLock { $0.append(what) } }
        var hooks = HTTPSession.Hooks()
        hooks.response = { _, head in
            note("hook \(head.status)")
            return .accept
        }
        hooks.data = { _, piece in note("data \(piece.count)") }
        hooks.completed = { completion in note("completed \(completion.response?.status ?? 0)") }
        try await Stage.with(configure: {
            $0.interceptors = [
                .call { request, next in
                    let response = try await next(request)
                    note("call \(response.head.status)")
                    return response
                },
                .exchange { request, next in
                    note("offers \(request.head.fields["Upgrade"] ?? "nothing")")
                    return try await next(request)
                },
            ]
        }) { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .echo))
            let connection = try await stage.session.upgrade("x", to: "foo", options: .init(hooks: hooks))
            try await connection.write("abc")
            #expect(try await connection.read(count: 3) == "abc")
            try await connection.finishWriting()
            #expect(try await connection.read() == nil)
            try await stage.eventually("the end") { seen.withLock { $0.last } == "completed 101" }
            #expect(seen.withLock { $0 } == ["offers foo", "hook 101", "call 101", "data 3", "completed 101"])
        }
    }
}
