import Dunlin
import DunlinTesting
import Testing

/// What the trace tells of what is sent through a proxy, and of secrets.
@Suite(.timeLimit(.minutes(10)))
struct `The wire trace of secrets` {
    private struct Told {
        var heads: [RequestHead] = []
        var sent = ""
        var received = ""
        var lines = ""
    }

    private func told(
        showingSecrets: Bool = false, configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ work: (HTTPSession) async throws -> Void
    ) async throws -> Told {
        var told = Told()
        try await ProxyStage.with(user: "ada", password: "hunter2", configure: configure) {
            (scene: ProxyStage) async throws in
            scene.server.respond { _ in
                .response(fields: ["Set-Cookie": "id=hunter2", "X-A": "1"], body: "password=shown")
            }
            let trace = scene.session.trace(bytes: 1 << 16, showingSecrets: showingSecrets)
            try await work(scene.session)
            await scene.session.shutdown()
            for await event in trace {
                told.lines += "\(event)\n"
                switch event {
                case .step(.requestHead(let head), _): told.heads.append(head)
                case .step(.sent(let bytes, _), _): told.sent += String(decoding: bytes, as: UTF8.self)
                case .step(.received(let bytes, _), _): told.received += String(decoding: bytes, as: UTF8.self)
                default: break
                }
            }
        }
        return told
    }

    @Test(arguments: [false, true])
    func `a trace shows what a proxy is sent, in absolute form, and no secret unless it is told to`(shows: Bool)
        async throws
    {
        let told = try await told(showingSecrets: shows) { session in
            _ = try await session.get("x?token=hunter2", fields: ["Authorization": "hunter2"], as: .bytes)
        }
        #expect(told.heads.count == 1)
        let head = try #require(told.heads.first)
        #expect(head.target.hasPrefix("http://127.0.0.1:") && head.target.hasSuffix("/x?token=hunter2"))
        #expect(head.fields.contains("proxy-authorization"))
        #expect(!told.lines.contains("Proxy-Authorization: Basic") && told.lines.contains("> GET http://127.0.0.1:"))
        #expect(told.sent.contains("GET http://127.0.0.1:") && told.sent.contains("Proxy-Authorization: "))
        #expect(told.received.contains("X-A: 1") && told.received.contains("password=shown"))
        for text in [told.sent, told.received] { #expect(text.contains("hunter2") == shows, "\(text)") }
        #expect(told.sent.contains("YWRhOmh1bnRlcjI=") == shows)
    }

    private struct Signer: HTTPSession.Authenticator {
        func fields(for secret: String) -> Fields { ["X-Signer": secret] }
        func refresh(_ stale: String?, using client: HTTPSession) async throws -> String { "hunter2" }
    }

    @Test(arguments: [false, true])
    func `the bytes of a trace hide all secrets that its lines hide`(shows: Bool) async throws {
        let told = try await told(
            showingSecrets: shows,
            configure: {
                $0.originFields = ["X-Tenant": "hunter2"]
                $0.authentication = .by(Signer())
            },
            { session in
                var fields: Fields = ["X-Plain": "plain"]
                fields.append(name: "X-Own", value: "hunter2", sensitive: true)
                _ = try await session.get("x?next=%2Fy%3Ftoken%3Dhunter2", fields: fields, as: .bytes)
            })
        for line in ["X-Plain: plain", "X-Own: <redacted>", "X-Tenant: <redacted>", "X-Signer: <redacted>"] {
            #expect(told.lines.contains("> \(line)\n"), "\(told.lines)")
        }
        for name in ["X-Own", "X-Tenant", "X-Signer"] {
            #expect(told.sent.contains("\(name): \(shows ? "hunter2" : "*******")\r\n"), "\(told.sent)")
        }
        #expect(told.sent.contains("X-Plain: plain\r\n") && told.sent.contains("hunter2") == shows, "\(told.sent)")
    }
}
