import Dunlin
import DunlinTesting
import Folders

extension Recorded {
    /// What errors and commands show of secrets.
    static let hidden: [Recorded] = [
        Recorded("a refused request shows no secret", .respond(403, body: "{\"password\": \"p4ss\"}")) {
            take, session in
            await take.get("get", session, "/a?token=s3cret&q=1", secret)
        },
        Recorded("a request that was reset shows no secret", .fail(.connectionReset)) { take, session in
            await take.get("get", session, "/a?access_token=s3cret", secret)
        },
        Recorded(
            "a field that the session calls secret is not shown", .respond(403), .moved("http://other.test/b"),
            .respond()
        ) {
            $0.secretFields = HTTP.SecretFields(["X-Plain"])
        } ask: { take, session in
            await take.get("refused", session, "/a", secret)
            await take.get("redirected", session, "/a", secret)
        },
        Recorded("a redirect to a secret target shows none", .moved("/b?token=s3cret"), .respond(404)) {
            take, session in
            await take.get("get", session)
        },
        Recorded("a refused form shows no secret", .respond(422, body: "no")) { take, session in
            await take.send(.post, session, "/a", body: .string("password=s3cret&name=ada"), secret)
        },
    ]

    private static let secret = HTTPSession.Options(fields: [
        "Authorization": "Bearer s3cret", "Cookie": "id=s3cret", "X-Api-Key": "s3cret", "X-Plain": "plain",
    ])

    /// Interceptors around calls and exchanges.
    static let intercepted: [Recorded] = bothScopes + ordered

    private static let bothScopes: [Recorded] = [true, false].flatMap { isCall -> [Recorded] in
        let around = isCall ? "around the call" : "around the exchange"
        let scope: @Sendable (@escaping HTTPSession.Interception.Intercept) -> HTTPSession.Interception = {
            isCall ? .call($0) : .exchange($0)
        }
        return [
            intercepted("an interceptor \(around) adds a field", scope) { request, next in
                try await next(request) { $0.head.fields["X-Added"] = "1" }
            },
            intercepted("an interceptor \(around) adds a secret field", scope) { request, next in
                try await next(request) { $0.head.fields["Authorization"] = "Bearer s3cret" }
            },
            intercepted("an interceptor \(around) throws", scope) { _, _ in
                throw NetworkError(.cancelled, "not today")
            },
            intercepted("an interceptor \(around) sends twice", scope) { request, next in
                _ = try await next(request)
                return try await next(request)
            },
            intercepted("an interceptor \(around) throws afterwards", scope) { request, next in
                _ = try await next(request)
                throw NetworkError(.cancelled, "not afterwards")
            },
        ]
    }

    private static func intercepted(
        _ name: String, _ scope: @Sendable (@escaping HTTPSession.Interception.Intercept) -> HTTPSession.Interception,
        _ intercept: @escaping HTTPSession.Interception.Intercept
    ) -> Recorded {
        let interception = scope(intercept)
        return Recorded(name) { configuration, _ in
            thrice(&configuration)
            configuration.interceptors = [interception]
        } play: { take, session in
            take.serve(
                .moved("/b"), .respond(503), .respond(body: "one"), .respond(body: "two"), .moved("/c"), .respond())
            await take.get("get", session)
        }
    }

    private static let ordered: [Recorded] = [
        Recorded("interceptors are asked from the outermost to the innermost") { configuration, take in
            let noting: @Sendable (String) -> HTTPSession.Interception.Intercept = { name in
                { request, next in
                    take.transcript.note("\(name) before hop \(next.hop)")
                    let response = try await next(request)
                    take.transcript.note("\(name) after \(response.head.status.code)")
                    return response
                }
            }
            configuration.interceptors = [
                .exchange(noting("exchange 1")), .call(noting("call 1")), .call(noting("call 2")),
                .exchange(noting("exchange 2")),
            ]
            configuration.cookies = CookieJar()
            password(&configuration)
        } play: { take, session in
            take.serve(.moved("/b", 302, ["Set-Cookie": "id=1"]), .asking(), .respond(body: "in"))
            await take.get("get", session)
        }
    ]

    /// Hooks of the session and of a request.
    static let hooked: [Recorded] = [
        hooks("hooks of both are told, the request's first", .moved("/b"), .respond(503), .respond(body: "here")),
        hooks("hooks are told of a refusal", .respond(404, body: "none")),
        hooks("hooks are told of a reset", .fail(.connectionReset), .fail(.connectionReset), .fail(.connectionReset)),
        hooks("hooks are told of a body that breaks", .stream(["abc"], length: 10, failing: reset)),
        Recorded("a response hook cancels", .respond(body: "here")) { take, session in
            var options = HTTPSession.Options()
            options.hooks.response = { _, _ in .cancel }
            await take.get("get", session, "/a", options)
        },
        Recorded("a response hook sends the body to a file", .respond(body: "here")) { take, session in
            var options = HTTPSession.Options()
            let path = take.folder.path
            options.hooks.response = { _, _ in .download(to: .file("\(path)/file")) }
            await take.get("get", session, "/a", options)
            take.transcript.note("in the file: \(take.folder.text(of: "file"))")
        },
        Recorded("a data hook is shown each piece", .stream(["one", "two"])) { take, session in
            var options = HTTPSession.Options()
            options.hooks.data = { _, piece in take.transcript.note("piece of \(piece.count) bytes") }
            await take.get("get", session, "/a", options)
        },
        Recorded("a hook gives a new body", .moved("/b", 307), .respond(body: "in")) { take, session in
            var options = HTTPSession.Options()
            options.hooks.replacementBody = { _ in .string("new") }
            await take.send(.post, session, "/a", body: .once, options)
        },
    ]

    private static func hooks(_ name: String, _ answers: MockTransport.Outcome...) -> Recorded {
        Recorded(name, { configuration, _ in thrice(&configuration) }) { take, session in
            take.serve(answers)
            var options = HTTPSession.Options()
            options.hooks = RecordingHooks.hooks(of: "own ")
            await take.get("get", session, "/a", options)
        }
    }
}
