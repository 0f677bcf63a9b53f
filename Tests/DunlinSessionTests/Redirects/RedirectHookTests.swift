import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Redirect hooks` {
    typealias Answer = HTTPSession.RedirectDecision?

    /// `/from` leads to `to`; whatever else answers.
    private static func redirecting(
        to location: String = "/to", _ status: HTTP.Status = 302,
        session: (@Sendable (HTTPSession.RedirectProposal) async -> Answer)? = nil
    ) throws -> Mocked {
        let mocked = try Mocked("http://a.test") { $0.hooks.redirect = session }
        for method in [.get, .post] as [HTTP.Method] {
            mocked.transport.on(method, "/from").respond(status, fields: ["Location": location], body: "moved").always()
        }
        mocked.transport.otherwise { _ in .respond(body: "there") }
        return mocked
    }

    private static func options(
        _ hook: @escaping @Sendable (HTTPSession.RedirectProposal) async -> Answer
    ) -> HTTPSession.Options {
        var options = HTTPSession.Options(validatesResponse: false)
        options.hooks.redirect = hook
        return options
    }

    @Test(.rows("SM-81")) func `a redirect hook is told what was sent, what came, and what will be sent`() async throws
    {
        let told = Mutex<HTTPSession.RedirectProposal?>(nil)
        let mocked = try Self.redirecting(to: "http://b.test/to", 303)
        var options = Self.options { proposal in
            told.withLock { $0 = proposal }
            return nil
        }
        options.fields = ["Authorization": "A", "X": "1"]
        let response = try await mocked.session.post("from#f", body: .string("x"), options: options, as: .string)
        #expect(response.value == "there")
        let proposal = try #require(told.withLock { $0 })
        #expect(proposal.request.method == .post)
        #expect(proposal.request.url == "http://a.test/from#f")
        #expect(proposal.request.fields["Authorization"] == "A")
        #expect(proposal.request.body.mayHaveContent)
        #expect(proposal.response.status == 303)
        #expect(proposal.next.method == .get)
        #expect(proposal.next.url == "http://b.test/to#f")
        #expect(!proposal.next.fields.contains("Authorization") && !proposal.next.fields.contains("Content-Type"))
        #expect(proposal.next.fields["X"] == "1")
        #expect(!proposal.next.body.mayHaveContent)
        #expect(proposal.count == 0)
    }

    /// What the session's hook says, what the request's says, and whose word counts.
    static let opinions: [(String?, String?, String)] = [
        (nil, nil, "there"), ("follow", "stop", "moved"), ("stop", "follow", "there"), (nil, "stop", "moved"),
        (nil, "follow", "there"), ("stop", nil, "moved"),
    ]

    @Test(arguments: opinions)
    func `redirect hooks are asked in turn, the request's first`(session: String?, request: String?, expected: String)
        async throws
    {
        let asked = Told()
        let answer = { @Sendable (who: String, word: String?) -> Answer in
            asked.note(who)
            return switch word {
            case "follow": .follow
            case "stop": .stop
            default: nil
            }
        }
        let mocked = try Self.redirecting { _ in answer("session", session) }
        let options = Self.options { _ in answer("request", request) }
        let response = try await mocked.session.get("from", options: options, as: .string)
        #expect(response.value == expected)
        #expect(response.status == (expected == "moved" ? 302 : 200))
        #expect(response.url == (expected == "moved" ? "http://a.test/from" : "http://a.test/to"))
        #expect(asked.notes == (request == nil ? ["request", "session"] : ["request"]))
    }

    @Test(.rows("SM-81")) func `a redirect hook may send another request instead`() async throws {
        let mocked = try Self.redirecting(to: "app://callback?code=1")
        let options = Self.options { proposal in
            #expect(proposal.next.url == "app://callback?code=1")
            var next = proposal.next
            next.method = .put
            next.url = "http://u:p@b.test/other?x#y"
            next.fields["X-New"] = "n"
            next.body = .string("new")
            return .modify(next)
        }
        let response = try await mocked.session.get("from", options: options, as: .string)
        #expect(response.url == "http://b.test/other?x#y")
        let sent = try #require(mocked.transport.requests.last)
        #expect(sent.method == .put)
        #expect(sent.target == "/other?x")
        #expect(sent.body == "new")
        #expect(sent.fields["X-New"] == "n")
        #expect(sent.fields["Content-Type"] == "text/plain; charset=utf-8")
        // The password is for what the server may ask.
        #expect(!sent.fields.contains("Authorization"))
    }

    @Test(arguments: [
        ("ftp://b.test/", NetworkError.Code.unsupportedScheme), ("b.test", .invalidRedirect),
        ("http://b.test/ x", .invalidRedirect), ("http://a.test/from", .redirectLoop),
        ("http://a:b%3Ac@b.test/", nil), ("http://a:%0Ac@b.test/", .invalidRequest),
    ])
    func `a request from a redirect hook that could not be sent is refused`(url: String, code: NetworkError.Code?)
        async throws
    {
        let mocked = try Self.redirecting()
        let options = Self.options { proposal in
            var next = proposal.next
            next.url = url
            return .modify(next)
        }
        let error = try await networkError { _ = try await mocked.session.get("from", options: options, as: .bytes) }
        #expect(error?.code == code)
    }

    @Test func `a secret field that a redirect hook left as it was does not go to another origin`() async throws {
        let mocked = try Self.redirecting()
        var options = Self.options { proposal in
            var next = proposal.next
            next.url = "http://b.test/"
            next.fields["Cookie"] = "mine"
            return .modify(next)
        }
        options.fields = ["Authorization": "A", "Cookie": "yours"]
        _ = try await mocked.session.get("from", options: options, as: .bytes)
        let sent = try #require(mocked.transport.requests.last)
        #expect(!sent.fields.contains("Authorization"))
        #expect(sent.fields["Cookie"] == "mine")
    }

    @Test func `a redirect hook is not asked where redirects are not followed`() async throws {
        let mocked = try Self.redirecting { _ in
            Issue.record("asked")
            return nil
        }
        var options = HTTPSession.Options(validatesResponse: false)
        options.redirects = .never
        #expect(try await mocked.session.get("from", options: options, as: .string).value == "moved")
    }

    /// Who is asked for another body, and what becomes of the request.
    static let renewals: [(session: String?, request: String?, expected: String?)] = [
        (nil, nil, nil), ("s", "r", "r"), (nil, "r", "r"), ("s", nil, "s"),
    ]

    @Test(arguments: renewals)
    func `a hook may give another body for one that was sent`(
        session: String?, request: String?, expected: String?
    ) async throws {
        let mocked = try Mocked("http://a.test") { $0.hooks.replacementBody = { _ in session.map { .string($0) } } }
        mocked.transport.on(.post, "/from").respond(307, fields: ["Location": "/to"])
        mocked.transport.otherwise { .respond(body: $0.body) }
        var options = HTTPSession.Options()
        options.hooks.replacementBody = { wanted in
            #expect(wanted.url == "http://a.test/to")
            #expect(wanted.method == .post)
            return request.map { .stream(Pieces([Bytes($0)])) }
        }
        let body = RequestBody.stream(Pieces(["once"]))
        let error = try await networkError {
            let response = try await mocked.session.post("from", body: body, options: options, as: .string)
            #expect(response.value == expected)
        }
        #expect(error?.code == (expected == nil ? .bodyNotReplayable : nil))
    }

    @Test func `a cancel ends a redirect hook that takes its time`() async throws {
        let (begun, never) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        let mocked = try Self.redirecting()
        let options = Self.options { _ in
            begun.open()
            do { try await never.opened() } catch { #expect(error is CancellationError) }
            return nil
        }
        let task = Task { try await mocked.session.get("from", options: options, as: .bytes) }
        try await begun.opened()
        #expect(await mocked.session.tasks.cancelAll() == 1)
        let error = try await networkError { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(mocked.transport.requests.count == 1)
    }
}

/// What happened, in order.
final class Told: Sendable {
    private let all = Mutex<[String]>([])

    var notes: [String] { all.withLock { $0 } }

    func note(_ text: String) {
        all.withLock { $0.append(text) }
    }
}
