import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Credentials` {
    private static let basic = "Basic dXNlcjpwYXNz"

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var base: String? = "http://a.test"
        var session: HTTP.Credentials?
        var sessionField: String?
        var request: HTTP.Credentials?
        var field: String?
        var target: HTTP.Target = "x"
        var expected: String?
    }

    static let cases: [Case] = [
        Case(testDescription: "none"),
        Case(testDescription: "session's", session: .bearer(token: "s"), expected: "Bearer s"),
        Case(
            testDescription: "session's, elsewhere", session: .bearer(token: "s"), target: "http://b.test/",
            expected: nil),
        Case(
            testDescription: "session's, home by the whole URL", session: .bearer(token: "s"),
            target: "http://A.test:80/", expected: "Bearer s"),
        Case(
            testDescription: "session's, another port", session: .bearer(token: "s"), target: "http://a.test:81/"),
        Case(testDescription: "session's, https", session: .bearer(token: "s"), target: "https://a.test/"),
        Case(testDescription: "base URL's", base: "http://user:pass@a.test", expected: basic),
        Case(testDescription: "base URL's, dotted", base: "http://user:pass@a.test", target: "./x", expected: basic),
        Case(
            testDescription: "base URL's, elsewhere", base: "http://user:pass@a.test", target: "//b.test/",
            expected: nil),
        Case(
            testDescription: "session's before base URL's", base: "http://user:pass@a.test",
            session: .bearer(token: "s"), target: "x#f", expected: "Bearer s"),
        Case(
            testDescription: "session's field before base URL's", base: "http://user:pass@a.test", sessionField: "F",
            expected: "F"),
        Case(testDescription: "URL's", base: nil, target: "http://user:pass@b.test/", expected: basic),
        Case(testDescription: "URL's, decoded", base: nil, target: "http://us%65r:p%61ss@b.test/", expected: basic),
        Case(testDescription: "URL's without password", base: nil, target: "http://u@b.test/", expected: "Basic dTo="),
        Case(
            testDescription: "URL's before session's", session: .bearer(token: "s"),
            target: "http://user:pass@a.test/", expected: basic),
        Case(
            testDescription: "URL's before session's field", sessionField: "F", target: "http://user:pass@a.test/",
            expected: basic),
        Case(
            testDescription: "request's before URL's", request: .bearer(token: "r"),
            target: "http://user:pass@b.test/", expected: "Bearer r"),
        Case(
            testDescription: "request's before session's", session: .bearer(token: "s"),
            request: .bearer(token: "r"), expected: "Bearer r"),
        Case(
            testDescription: "request's before session's field", sessionField: "F", request: .bearer(token: "r"),
            expected: "Bearer r"),
        Case(
            testDescription: "request's, elsewhere", request: .bearer(token: "r"), target: "//b.test/",
            expected: "Bearer r"),
        Case(
            testDescription: "own field before all", session: .bearer(token: "s"), request: .bearer(token: "r"),
            field: "own", target: "http://user:pass@a.test/", expected: "own"),
    ]

    @Test(.rows("OP-9", "RQ-48", "AP-17"), arguments: cases)
    func `the credentials nearest to the request count, a session's only at its own origin`(play: Case) async throws {
        let mocked = try Mocked(play.base) {
            $0.credentials = play.session
            $0.basicInClearText = .allowed
            if let field = play.sessionField { $0.fields["Authorization"] = field }
        }
        mocked.transport.otherwise { request in
            request.fields.contains("authorization")
                ? .respond() : .respond(401, fields: ["WWW-Authenticate": "Basic realm=r"])
        }
        var options = HTTPSession.Options(validatesResponse: false)
        if let own = play.request { options.credentials = .value(own) }
        if let field = play.field { options.fields["authorization"] = field }
        let response = try await mocked.session.get(play.target, options: options, as: .bytes)
        let sent = try #require(mocked.transport.requests.last)
        #expect(sent.fields.values(of: "Authorization") == (play.expected.map { [$0] } ?? []))
        // User info answers, and goes nowhere unasked.
        #expect(mocked.transport.requests.count == (play.expected?.hasPrefix("Basic") == true ? 2 : 1))
        #expect(sent.fields["Accept-Encoding"] == "gzip, deflate")
        #expect(!sent.target.contains("@") && !response.url.contains("@"))
    }

    @Test(arguments: ["x", "http://user:pass@a.test/", "http://a.test/"], [nil, "own"])
    func `a request can be without the session's credentials`(target: String, field: String?) async throws {
        let mocked = try Mocked("http://a.test") { $0.credentials = .bearer(token: "s") }
        mocked.transport.otherwise { _ in .respond() }
        var options = HTTPSession.Options(credentials: .none)
        if let field { options.fields["Authorization"] = field }
        _ = try await mocked.session.get(url: target, options: options, as: .bytes)
        #expect(mocked.transport.requests.last?.fields["Authorization"] == field)
    }

    @Test(.rules("9110-9.3.8-2"), arguments: ["x", "http://user:pass@a.test/"])
    func `a TRACE goes without the session's credentials and cookies, and answers no challenge`(
        target: String
    ) async throws {
        let mocked = try Mocked("http://a.test") {
            $0.credentials = .basic(user: "u", password: "p")
            $0.basicInClearText = .allowed
            $0.cookies = CookieJar()
        }
        mocked.transport.otherwise { _ in
            .respond(401, fields: ["WWW-Authenticate": "Basic realm=r", "Set-Cookie": "a=b"])
        }
        let options = HTTPSession.Options(validatesResponse: false)
        _ = try await mocked.session.get("x", options: options, as: .bytes)
        for _ in 0..<2 {
            _ = try await mocked.session.request(.url(target), method: .trace, options: options, as: .bytes)
        }
        let traces = mocked.transport.requests.filter { $0.method == .trace }
        #expect(traces.count == 2)
        for trace in traces { #expect(!trace.fields.contains("Authorization") && !trace.fields.contains("Cookie")) }
        let own = HTTPSession.Options(credentials: .value(.bearer(token: "t")))
        let error = try await networkError {
            _ = try await mocked.session.request(.url(target), method: .trace, options: own, as: .bytes)
        }
        #expect(error?.code == .invalidRequest && mocked.transport.requests.last?.method == .trace)
    }

    @Test(.rows("RQ-47")) func `credentials that would be read as something else are refused and not sent`()
        async throws
    {
        for wrong in [.basic(user: "a:b", password: "c"), .bearer(token: "a b")] as [HTTP.Credentials] {
            let early = #expect(throws: NetworkError.self) { try Mocked("http://a.test") { $0.credentials = wrong } }
            #expect(early?.code == .invalidConfiguration)
            let mocked = try Mocked("http://a.test")
            var options = HTTPSession.Options()
            options.credentials = .value(wrong)
            let late = try await networkError { _ = try await mocked.session.get("x", options: options, as: .bytes) }
            #expect(late?.code == .invalidRequest)
            #expect(mocked.transport.requests.isEmpty)
        }
        let url = try await networkError { _ = try await Mocked().session.get("http://a:%0Ac@a.test/", as: .bytes) }
        #expect(url?.code == .invalidRequest)
        let base = #expect(throws: NetworkError.self) { try Mocked("http://a:%0Ac@a.test/") }
        #expect(base?.code == .invalidConfiguration)
        let lost = #expect(throws: NetworkError.self) { try Mocked(nil) { $0.credentials = .bearer(token: "t") } }
        #expect(lost?.code == .invalidConfiguration)
    }

    @Test(arguments: ["Authorization", "authorization"])
    func `a session's credentials are refused beside an Authorization field of the session`(name: String) {
        for credentials in [.basic(user: "a", password: "b"), .bearer(token: "t")] as [HTTP.Credentials] {
            let error = #expect(throws: NetworkError.self) {
                try Mocked("http://a.test") { ($0.credentials, $0.fields[name]) = (credentials, "F") }
            }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.reason.contains("Authorization") == true)
        }
    }

    @Test func `credentials show in no description, redirect history or error`() async throws {
        for secret in [.basic(user: "eve", password: "s3cret"), .bearer(token: "s3cret")] as [HTTP.Credentials] {
            let shown = "\(secret) \(String(reflecting: secret)) \(Mirror(reflecting: secret).children.count)"
            #expect(!shown.contains("s3cret") && !shown.contains("eve"))
        }
        let mocked = try Mocked(nil)
        mocked.transport.otherwise { request in
            #expect(!request.fields.description.contains("ZXZl"))
            return .respond()
        }
        let seen = Told()
        let hooked = try Mocked("http://a.test") {
            $0.basicInClearText = .allowed
            $0.hooks.redirect = {
                seen.note("\($0.next.url)"); return nil
            }
        }
        hooked.transport.otherwise { request in
            #expect(!request.fields.description.contains("ZXZl"))
            if !request.fields.contains("authorization") {
                return .respond(401, fields: ["WWW-Authenticate": "Basic realm=r"])
            }
            return request.path == "/x" ? .respond(302, fields: ["Location": "/y"]) : .respond()
        }
        let response = try await hooked.session.get("http://eve:s3cret@a.test/x", as: .bytes)
        #expect(seen.notes == ["http://a.test/y"])
        #expect(response.history.map(\.url) == ["http://a.test/x"])
        #expect(hooked.transport.requests.map { $0.fields.contains("Authorization") } == [false, true, true])
        for target in ["http://eve:s3cret@a.test/\("..")", "http://eve:s3cret@a.test:0/"] as [HTTP.Target] {
            let error = try await networkError { _ = try await mocked.session.get(target, as: .bytes) }
            #expect(error.map { !"\($0)".contains("s3cret") } == true)
        }
    }

    @Test func `the list of running requests shows no credentials`() async throws {
        let mocked = try Mocked(nil)
        mocked.transport.otherwise { _ in .never }
        let task = Task { try await mocked.session.get("http://eve:s3cret@a.test/\(1)", as: .bytes) }
        try await mocked.transport.waitForRequests()
        #expect(await mocked.session.tasks.all.map(\.targetTemplate) == ["http://a.test/{}"])
        task.cancel()
        _ = await task.result
    }
}
