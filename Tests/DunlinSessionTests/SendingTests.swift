import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

/// What a call knows on its way, and what it forgets.
@Suite(.timeLimit(.minutes(10))) struct `A call's sending` {
    private static let challenge: Fields = ["WWW-Authenticate": #"Basic realm="r""#]

    /// Another request teaches the session a password while this one is answered without it.
    @Test(arguments: [500, 302]) func `a request is not sent again because another has learned a password`(
        status: Int
    ) async throws {
        let mocked = try Mocked("https://a.test") { $0.credentials = .password(user: "u", password: "p") }
        let session = mocked.session
        mocked.transport.otherwise { request in
            if request.target == "/slow" {
                _ = try await session.get("/known", as: .bytes)
                return .respond(HTTP.Status(status), body: "x")
            }
            let isKnown = request.fields["authorization"] != nil
            return isKnown ? .respond(body: "x") : .respond(401, fields: Self.challenge)
        }
        var options = HTTPSession.Options()
        options.validatesResponse = false
        let response = try await session.post("/slow", body: .bytes("y"), options: options, as: .bytes)
        #expect(response.status.code == status)
        #expect(mocked.transport.requests.filter { $0.target == "/slow" }.count == 1)
    }

    @Test func `a page that is asked for after a change is not one that was asked for before`() async throws {
        let gate = LoopbackServer.Gate()
        let mocked = try Mocked("https://a.test") { $0.coalescing.isOn = true }
        let asked = Mutex(0)
        mocked.transport.otherwise { request in
            if request.method == .post { return .respond(303, fields: ["Location": "/items"]) }
            let number = asked.withLock { count in
                count += 1
                return count
            }
            if number == 1 { try await gate.opened() }
            return .respond(body: Bytes("\(number)"))
        }
        let session = mocked.session
        let before = Task { try await session.get("/items", as: .string).value }
        try await eventually("the first is sent", following: mocked.transport) { asked.withLock { $0 == 1 } }
        #expect(try await session.post("/items/new", body: .bytes("x"), as: .string).value == "2")
        gate.open()
        #expect(try await before.value == "1")
    }

    @Test func `an upgrade that fails after a challenge has both hops`() async throws {
        let mocked = try Mocked("https://a.test") { $0.credentials = .password(user: "u", password: "p") }
        mocked.transport.on(.get, "/a").respond(401, fields: Self.challenge).thenFail(.connectionReset)
        let hops = Mutex<[Int]>([])
        var options = HTTPSession.Options()
        options.hooks.metrics = { _, metrics in hops.withLock { $0.append(metrics.hops.count) } }
        let error = try await NetworkError.thrown {
            _ = try await mocked.session.upgrade("a", to: "foo", options: options)
        }
        #expect(error.code == .connectionClosed, "\(error)")
        await mocked.session.shutdown()
        #expect(hops.withLock { $0 } == [2])
    }

    @Test func `an expectation that a server refused does not come back with a redirect`() async throws {
        let mocked = try Mocked("https://a.test") { _ in }
        mocked.transport.otherwise { request in
            if request.fields["expect"] != nil { return .respond(417) }
            return request.target == "/a"
                ? .respond(307, fields: ["Location": "/b"]) : .respond(body: "x")
        }
        var options = HTTPSession.Options()
        options.expectsContinue = true
        _ = try await mocked.session.put("a", body: .bytes("y"), options: options, as: .bytes)
        #expect(mocked.transport.requests.map(\.target) == ["/a", "/a", "/b"])
    }
}
