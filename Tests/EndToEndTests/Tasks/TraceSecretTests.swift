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
        #expect(told.sent.contains("GET http://127.0.0.1:") == shows && told.received.contains("X-A: 1") == shows)
        #expect(told.received.hasSuffix("password=shown"))
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
            #expect(told.sent.contains("\(name): hunter2\r\n") == shows, "\(told.sent)")
        }
        #expect(told.sent.contains("X-Plain: plain\r\n") == shows && told.sent.contains("hunter2") == shows)
    }

    @Test func `the bytes of a trace are those of bodies, without heads, framing and trailers`() async throws {
        var (sent, received): ([Bytes], [Bytes]) = ([], [])
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.chunked(["wo", "rld"], trailers: ["X-Token": "hunter2"]))
            stage.server.enqueue([
                .send("HTTP/1.1 103 Early Hints\r\nSet-Cookie: hunter2\r\n\r\nHTTP/1.1 200 OK\r\nContent-"),
                .send("Length: 9\r\nSet-Cookie: hunter2\r\n\r\nSet-"), .send("Cookie"),
            ])
            let trace = stage.session.trace(bytes: 100)
            _ = try await stage.session.post("b", body: .string("12345"), as: .bytes)
            #expect(try await stage.session.get("c", as: .string).value == "Set-Cookie".dropLast())
            await stage.session.shutdown()
            for await event in trace {
                guard case .step(let step, _) = event else { continue }
                if case .sent(let bytes, _) = step { sent.append(bytes) }
                if case .received(let bytes, _) = step { received.append(bytes) }
            }
        }
        #expect(sent == ["12345"])
        #expect(received.map(String.init).joined() == "worldSet-Cooki")
    }
}
