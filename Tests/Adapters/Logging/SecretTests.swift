import Dunlin
import DunlinLogging
import DunlinTesting
import InMemoryLogging
import Logging
import Testing

/// What a request has room for, each with the same secret.
@Suite(.timeLimit(.minutes(1))) struct `Secrets, and what peers write` {
    private struct Talkative: Error, CustomStringConvertible {
        let description = "the password is hunter2"
    }

    private func expectNothing(in logged: Logged) {
        #expect(!logged.log.entries.isEmpty)
        for text in ["hunter2", "aHVudGVyMg", "68756e74657232", "hunter%32"] {
            #expect(!logged.text.contains(text), "\(logged.text)")
        }
    }

    private func logged() throws -> Logged {
        try Logged(.trace, { $0.requestIDField = "X-Request-ID" }) { configuration in
            configuration.baseURL = "http://user:hunter2@api.test/v1"
            configuration.fields["X-Api-Key"] = "hunter2"
            configuration.fields["X-Plain"] = "hunter2"
            configuration.retry = .constant(attempts: 2, every: .zero)
            configuration.basicInClearText = .allowed
            configuration.cookies = CookieJar()
            configuration.cache = HTTPSession.Cache(.small)
            configuration.userID = "hunter2"
        }
    }

    private var options: HTTPSession.Options {
        var options = HTTPSession.Options()
        options.label = "hunter2"
        options.tags = ["hunter2"]
        options.credentials = .password(user: "ada", password: "hunter2")
        return options
    }

    @Test(arguments: [
        "a?q=hunter2", "a?token=hunter2#hunter2", "http://ada:hunter2@api.test/v1/a?x=hunter2",
        "a;jsessionid=hunter2", "a%3Bjsessionid%3Dhunter2", "a%3Ftoken%3Dhunter2", "a/token=hunter2/b",
        "http://api.test/proxy/https://ada:hunter2@inner.test/", "proxy/https%3A%2F%2Fada%3Ahunter2%40inner.test",
        "a%253Ftoken%253Dhunter2", "%7B%22token%22%3A%22hunter2%22%7D",
    ])
    func `no line has any, whatever becomes of the request`(target: String) async throws {
        let outcomes: [MockTransport.Outcome] = [
            .respond(fields: ["Set-Cookie": "s=hunter2", "X-Any": "hunter2", "Cache-Control": "max-age=60"]),
            .respond(503, fields: ["Retry-After": "0"], body: "hunter2"), .respond(404, body: "hunter2"),
            .respond(302, fields: ["Location": "http://u:hunter2@other.test/b?q=hunter2#hunter2"]),
            .respond(401, fields: ["WWW-Authenticate": "Basic realm=\"hunter2\""]),
            .fail(.connectionRefused), .fail(Talkative()),
            .fail(NetworkError(.connectionClosed, "hunter2", peer: "hunter2", underlying: Talkative())),
        ]
        for outcome in outcomes {
            let logged = try logged()
            logged.transport.on("the first") { $0.target != "/b" }.reply(outcome).always()
            logged.transport.otherwise { _ in .respond(body: "hunter2") }
            for target in [HTTP.Target(target), HTTP.Target(stringLiteral: target)] {
                _ = try? await logged.session.get(target, options: options)
                _ = try? await logged.session.post(
                    target, query: ["q": "hunter2"], fields: ["X-Request-ID": "hunter2 hunter2"],
                    body: .bytes("hunter2"), options: options, as: .json([Int].self))
            }
            expectNothing(in: logged)
        }
    }

    @Test func `an error of a hook, an interceptor or a serializer is named by its type`() async throws {
        let logged = try Logged(
            .trace,
            configure: {
                $0.interceptors = [
                    .call { request, next in
                        if request.head.target == "/v1/a" { throw Talkative() }
                        return try await next(request)
                    }
                ]
            })
        logged.transport.otherwise { _ in .respond(body: "{\"hunter2\": \"hunter2\"}") }
        _ = try? await logged.session.get("a")
        _ = try? await logged.session.get("b", as: [Int].self)
        expectNothing(in: logged)
        #expect(logged.log.entries.count == 2)
    }

    @Test func `control characters of a program or a peer are escaped, and long text is cut`() async throws {
        let logged = try Logged(.debug)
        let long = "/" + String(repeating: "x", count: 3000)
        logged.transport.on(.get, "/v1/old").respond(302, fields: ["Location": long])
        logged.transport.otherwise { _ in .respond() }
        _ = try? await logged.session.get("old")
        _ = try? await logged.session.get("a\u{1B}[2J\u{202E}\n{\"level\":\"error\"}")
        _ = try? await logged.session.get("b", options: .init())
        #expect(
            logged.text.unicodeScalars.allSatisfy {
                $0 == "\n" || ![.control, .format].contains($0.properties.generalCategory)
            })
        let values = logged.log.entries.flatMap { $0.metadata.values.map { "\($0)" } + ["\($0.message)"] }
        #expect(values.allSatisfy { !$0.contains("\n") && $0.utf8.count < 700 })
        #expect(logged.log.entries[0][.redirectPath]?.hasSuffix("x…") == true)
    }
}
