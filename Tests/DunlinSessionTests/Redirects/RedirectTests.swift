import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Following redirects` {
    /// A session over a transport that redirects `/0` to `/1` and so on to `/count`, which answers.
    private static func chain(
        _ count: Int, _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        let mocked = try Mocked("http://api.test", change)
        mocked.transport.otherwise { request in
            let number = Int(request.path.dropFirst()) ?? 0
            if number == count { return .respond(body: Bytes("at \(number)")) }
            return .respond(302, fields: ["Location": "/\(number + 1)"], body: "not here")
        }
        return mocked
    }

    private static func redirecting(
        from base: String = "http://api.test", to location: String, _ status: HTTP.Status = 302,
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        let mocked = try Mocked(base, change)
        mocked.transport.on(.get, "/from").respond(status, fields: ["Location": location]).always()
        mocked.transport.on(.post, "/from").respond(status, fields: ["Location": location]).always()
        mocked.transport.on(.put, "/from").respond(status, fields: ["Location": location]).always()
        mocked.transport.otherwise { _ in .respond(body: "there") }
        return mocked
    }

    @Test(.rules("9110-10.2.2-2", "9110-15.4-2")) func `a redirected response tells each hop on its way`() async throws
    {
        let mocked = try Self.chain(3)
        let response = try await mocked.session.get("0#top", as: .string)
        #expect(response.value == "at 3")
        #expect(response.url == "http://api.test/3#top")
        #expect(response.history.map(\.url) == ["http://api.test/0", "http://api.test/1", "http://api.test/2"])
        #expect(response.history.map(\.status) == [302, 302, 302])
        #expect(response.history.map(\.location) == ["/1", "/2", "/3"])
        let streamed = try await mocked.session.withResponse(from: "1") { response in
            var body = ""
            for try await piece in response.body { body += String(piece) }
            return (body, response.url, response.history.map(\.url))
        }
        #expect(streamed == ("at 3", "http://api.test/3", ["http://api.test/1", "http://api.test/2"]))
    }

    @Test func `a response that was not redirected has no history`() async throws {
        let mocked = try Self.chain(0)
        let response = try await mocked.session.get("0?q#f", query: ["a": "b"], as: .string)
        #expect(response.url == "http://api.test/0?q&a=b#f")
        #expect(response.history.isEmpty)
        #expect(try await mocked.session.get("0", as: .string).url == "http://api.test/0")
    }

    @Test(.rows("SM-82"), .rules("9110-15.4-1"), arguments: [(20, true), (21, false)])
    func `redirects end at the limit with an error that tells their chain`(count: Int, isReached: Bool) async throws {
        let mocked = try Self.chain(count)
        guard !isReached else {
            #expect(try await mocked.session.get("0", as: .string).history.count == count)
            return
        }
        let error = try #require(try await networkError { _ = try await mocked.session.get("0", as: .string) })
        #expect(error.code == .tooManyRedirects)
        #expect(error.redirects.map(\.url) == (0...20).map { "http://api.test/\($0)" })
        #expect(error.response?.status == 302)
        #expect(error.description.contains("http://api.test/20: 302"))
        #expect(error.isSafeToRetry && error.requestMayHaveBeenSent)
        #expect(mocked.transport.requests.count == 21)
    }

    @Test func `a request may have a redirect limit of its own`() async throws {
        let mocked = try Self.chain(3) { $0.redirects.limit = 2 }
        let error = try await networkError { _ = try await mocked.session.get("0", as: .string) }
        #expect(error?.code == .tooManyRedirects)
        var options = HTTPSession.Options()
        options.redirects = .follow(limit: 3)
        #expect(try await mocked.session.get("0", options: options, as: .string).value == "at 3")
        options.redirects = .none
        options.validatesResponse = false
        let response = try await mocked.session.get("0", options: options, as: .string)
        #expect(response.status == 302)
        #expect(response.value == "not here")
        #expect(response.url == "http://api.test/0")
    }

    @Test(.rows("SM-82"), .rules("9110-15.4-1")) func `redirects that lead back to an earlier hop end as a loop`()
        async throws
    {
        let mocked = try Mocked()
        mocked.transport.on(.get, "/a").respond(301, fields: ["Location": "/b"]).always()
        mocked.transport.on(.get, "/b").respond(301, fields: ["Location": "/a"]).always()
        let error = try #require(try await networkError { _ = try await mocked.session.get("a", as: .bytes) })
        #expect(error.code == .redirectLoop)
        #expect(error.redirects.count == 2)
        #expect(mocked.transport.requests.count == 2)
    }

    static let bodies: [(HTTP.Status, HTTP.Method, HTTP.Method, Bool)] = [
        (301, .post, .get, false), (302, .post, .get, false), (303, .post, .get, false), (307, .post, .post, true),
        (308, .post, .post, true), (301, .put, .put, true), (303, .put, .get, false), (308, .put, .put, true),
    ]

    @Test(.rows("SM-82"), .rules("9110-9.3.3-1", "9110-15.4-2", "9110-15.4-5"), arguments: bodies, [false, true])
    func `a redirect sends the body again, or drops it with the fields that describe it`(
        change: (HTTP.Status, HTTP.Method, HTTP.Method, Bool), isStream: Bool
    ) async throws {
        let (status, method, next, keepsBody) = change
        let mocked = try Self.redirecting(to: "/to", status)
        let body: RequestBody =
            isStream ? .replayable(contentType: "text/plain") { Pieces(["on", "ce"]) } : .string("once")
        var options = HTTPSession.Options(fields: ["Content-Language": "en", "X-Own": "1"])
        options.expectsContinue = true
        let response = try await mocked.session.request(
            "from", method: method, body: body, options: options, as: .string)
        #expect(response.value == "there")
        let sent = try #require(mocked.transport.requests.last)
        #expect(sent.method == next)
        #expect(sent.body == (keepsBody ? "once" : ""))
        #expect(sent.fields["X-Own"] == "1")
        for name in ["Content-Type", "Content-Language", "Expect"] {
            #expect(sent.fields.contains(name) == keepsBody, "\(name)")
        }
    }

    @Test(.rows("SM-88")) func `a redirect fails where it needs to send again a body that can be sent only once`()
        async throws
    {
        let mocked = try Self.redirecting(to: "/to", 307)
        let body = RequestBody.stream(Pieces(["once"]))
        let error = try #require(
            try await networkError { _ = try await mocked.session.post("from", body: body, as: .bytes) })
        #expect(error.code == .bodyNotReplayable)
        #expect(error.response?.status == 307)
        #expect(!error.isSafeToRetry)
        #expect(mocked.transport.requests.count == 1)
        let other = try Self.redirecting(to: "/to", 303)
        let again = RequestBody.stream(Pieces(["once"]))
        #expect(try await other.session.post("from", body: again, as: .string).value == "there")
    }

    /// A redirect that is not followed, and one whose last hop fails.
    @Test(arguments: ["ftp://api.test/", "/lost"], [false, true])
    func `a redirected POST may be repeated after an error if it has a key by which the server knows it again`(
        location: String, hasKey: Bool
    ) async throws {
        let mocked = try Self.redirecting(to: location)
        mocked.transport.on(.get, "/lost").fail(.connectionReset).always()
        let options = HTTPSession.Options(fields: hasKey ? ["Idempotency-Key": "7"] : [:])
        let error = try #require(
            try await networkError {
                _ = try await mocked.session.post("from", body: .string("x"), options: options, as: .bytes)
            })
        #expect(error.requestMayHaveBeenSent)
        #expect(error.isSafeToRetry == hasKey)
    }

    static let refusals: [(String, String, NetworkError.Code)] = [
        ("http://api.test", "app://x", .unsupportedScheme), ("http://api.test", "http://", .invalidRedirect),
        ("http://api.test", "http://a b/", .invalidRedirect),
        ("https://api.test", "http://api.test/", .insecureRedirect),
        ("http://api.test", "", .redirectLoop),
    ]

    @Test(arguments: refusals)
    func `a redirect that cannot or must not be followed fails with an error that says why`(
        base: String, location: String, code: NetworkError.Code
    ) async throws {
        let mocked = try Self.redirecting(from: base, to: location)
        let error = try #require(try await networkError { _ = try await mocked.session.get("from", as: .bytes) })
        #expect(error.code == code)
        #expect(error.response?.status == 302)
        #expect(error.redirects.count == 1)
        #expect(mocked.transport.requests.count == 1)
    }

    @Test(arguments: [
        "from?token=hunter2&ticket=hunter2&page=2", "http://api.test/?token=hunter2&ticket=hunter2&page=2",
    ])
    func `a redirect that is refused is named without the secrets of its query`(location: String) async throws {
        let mocked = try Mocked("https://api.test") { $0.secretFields = ["ticket"] }
        mocked.transport.otherwise { _ in .respond(302, fields: ["Location": location]) }
        let error = try #require(
            try await networkError {
                _ = try await mocked.session.get(.init("from?token=hunter2&ticket=hunter2&page=2"), as: .bytes)
            })
        #expect([.redirectLoop, .insecureRedirect].contains(error.code))
        #expect(!error.reason.contains("hunter2"), "\(error.reason)")
        #expect(error.reason.contains("?token=***&ticket=***&page=2"), "\(error.reason)")
        #expect(!"\(error)".contains("hunter2"), "\(error)")
    }

    @Test func `a response that does not say where to go is delivered as it is`() async throws {
        let mocked = try Mocked()
        for status in [300, 301, 304, 305, 306, 308] as [HTTP.Status] {
            mocked.transport.on(.get, "/\(status)").respond(status, body: "x")
        }
        for status in [300, 301, 304, 305, 306, 308] as [HTTP.Status] {
            let options = HTTPSession.Options(validatesResponse: false)
            let response = try await mocked.session.get("\(status.description)", options: options, as: .bytes)
            #expect(response.status == status)
        }
    }

    @Test func `an odd Location is read as browsers read it`() async throws {
        let mocked = try Self.redirecting(to: " //api.test\\to x?\u{E4}#\u{20AC} ")
        let response = try await mocked.session.get("from", as: .string)
        #expect(response.url == "http://api.test/to%20x?%C3%A4#%E2%82%AC")
        #expect(mocked.transport.requests.last?.target == "/to%20x?%C3%A4")
    }

    @Test func `a redirect from https to http that the policy allows is followed with a warning`() async throws {
        let told = Told()
        let mocked = try Self.redirecting(from: "https://api.test", to: "http://api.test/to") {
            $0.redirects.allowsHTTPSToHTTP = true
            $0.fields["Authorization"] = "A"
            $0.securityWarningHandler = { told.note($0.kind.rawValue) }
        }
        #expect(try await mocked.session.get("from", as: .string).value == "there")
        #expect(mocked.transport.requests.map { $0.fields.contains("authorization") } == [true, false])
        #expect(told.notes == ["redirectsMayLoseProtection"])
    }

    @Test func `a redirect never takes a session with pins to clear text`() async throws {
        let mocked = try Self.redirecting(from: "https://api.test", to: "http://api.test/to") {
            $0.redirects.allowsHTTPSToHTTP = true
            $0.tls.policy = SecurityPolicy(mode: .publicKey, pins: [try .init(`Security policy`.key)])
        }
        let error = try await networkError { _ = try await mocked.session.get("from", as: .bytes) }
        #expect(error?.code == .clearTextRefused)
        #expect(mocked.transport.requests.count == 1)
    }

    @Test(.rules("9110-15.4-3")) func `each hop takes its own route`() async throws {
        let (session, request) = (HTTP.SocketAddress.v4(1, port: 1), HTTP.SocketAddress.v4(2, port: 2))
        let mocked = try Mocked("http://a.test") { $0.hostOverrides["b.test"] = session }
        mocked.transport.on(.get, "/1").respond(302, fields: ["Location": "http://b.test/2"])
        mocked.transport.on(.get, "/2").respond(302, fields: ["Location": "http://c.test/3"])
        mocked.transport.on(.get, "/3").respond(302, fields: ["Location": "http://d.test/4"])
        mocked.transport.on(.get, "/4").respond()
        var options = HTTPSession.Options()
        options.hostOverrides = ["c.test": request]
        _ = try await mocked.session.get("1", options: options, as: .bytes)
        #expect(mocked.transport.requests.map(\.origin.route?.address) == [nil, session, request, nil])
    }
}

@Suite(.timeLimit(.minutes(10))) struct `What redirects carry` {
    /// `/0` at a leads to `/1` at b, that to `/2` at a.
    private static func triangle(_ change: (inout HTTPSession.Configuration) throws -> Void) throws -> Mocked {
        let mocked = try Mocked("http://a.test", change)
        mocked.transport.on(.get, "/0").respond(302, fields: ["Location": "/0b"])
        mocked.transport.on(.get, "/0b").respond(302, fields: ["Location": "http://b.test/1"])
        mocked.transport.on(.get, "/1").respond(302, fields: ["Location": "http://a.test/2"])
        mocked.transport.on(.get, "/2").respond()
        return mocked
    }

    @Test(.rows("SM-82"), .rules("9110-15.4-4")) func `secrets stay with their origin, and are gone for good`()
        async throws
    {
        let mocked = try Self.triangle {
            $0.fields.append(name: "Proxy-Authorization", value: "P")
            $0.fields.append(name: "X-Default", value: "d", sensitive: true)
            $0.redirects.secretFields = ["x-key"]
            $0.secretFields = ["X-Tenant"]
            $0.fields["x-tenant"] = "t"
        }
        var options = HTTPSession.Options(fields: [
            "Authorization": "A", "Cookie": "c", "X-Key": "k", "X-Plain": "p", "X-Api-Key": "k", "X-Auth-Token": "t",
            "Origin": "http://api.test",
        ])
        options.fields.append(name: "X-Marked", value: "m", sensitive: true)
        _ = try await mocked.session.get("0", options: options, as: .bytes)
        let secrets = [
            "Authorization", "Cookie", "Proxy-Authorization", "X-Key", "X-Marked", "X-Default", "X-Api-Key",
            "X-Auth-Token", "X-Tenant", "Origin",
        ]
        for (index, request) in mocked.transport.requests.enumerated() {
            for name in secrets { #expect(request.fields.contains(name) == (index < 2), "\(name) at \(index)") }
            #expect(request.fields["X-Plain"] == "p")
            #expect(request.fields["User-Agent"] == HTTPSession.Configuration.defaultFields["User-Agent"])
        }
        #expect(mocked.transport.requests.count == 4)
    }

    static let credentials: [HTTP.Credentials] = [.bearer(token: "t"), .basic(user: "u", password: "p")]

    @Test(.rows("OP-9"), .rules("9110-15.4-3"), arguments: credentials, [false, true])
    func `credentials stay with their origin`(credentials: HTTP.Credentials, isOfRequest: Bool) async throws {
        let mocked = try Self.triangle { if !isOfRequest { $0.credentials = credentials } }
        var options = HTTPSession.Options()
        if isOfRequest { options.credentials = .value(credentials) }
        _ = try await mocked.session.get("0", options: options, as: .bytes)
        #expect(mocked.transport.requests.map { $0.fields.contains("Authorization") } == [true, true, false, false])
    }

    @Test(.rules("9110-4.2.4-1")) func `a user and password in a Location are not sent`() async throws {
        let mocked = try Mocked("http://a.test")
        mocked.transport.on(.get, "/0").respond(302, fields: ["Location": "http://u:p@a.test/1"])
        mocked.transport.on(.get, "/1").respond(302, fields: ["Location": "http://u:p@b.test/2"])
        mocked.transport.on(.get, "/2").respond()
        let response = try await mocked.session.get("0", as: .bytes)
        #expect(mocked.transport.requests.allSatisfy { !$0.fields.contains("Authorization") })
        #expect(response.url == "http://b.test/2")
    }
}

/// A body in pieces.
struct Pieces: AsyncSequence, Sendable {
    let pieces: [Bytes]

    init(_ pieces: [Bytes]) {
        self.pieces = pieces
    }

    func makeAsyncIterator() -> Iterator { Iterator(pieces: pieces[...]) }

    struct Iterator: AsyncIteratorProtocol {
        var pieces: ArraySlice<Bytes>

        mutating func next() async throws -> Bytes? { pieces.popFirst() }
    }
}
