import Dunlin
import DunlinTesting
import Testing

/// What the trace tells of what goes over the wire.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `The wire trace` {
    /// All that a trace tells until the session is shut down.
    private func lines(
        bytes: Int? = nil, showingSecrets: Bool = false,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ replies: LoopbackServer.Reply..., work: (HTTPSession) async throws -> Void
    ) async throws -> [String] {
        var lines: [String] = []
        try await Stage.with(tolerating: true, configure: configure) { (stage: Stage) async throws in
            for reply in replies { stage.server.enqueue(reply) }
            let trace = stage.session.trace(bytes: bytes, showingSecrets: showingSecrets)
            try await work(stage.session)
            await stage.session.shutdown()
            for await event in trace {
                lines += event.description.split(separator: "\n").map { line in
                    // Without the request's number.
                    String(line.drop { $0 != " " }.dropFirst())
                }
            }
        }
        return lines
    }

    @Test func `bytes of a body are told though they come later than its head`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
            stage.server.enqueue(.raw(Bytes(head.utf8)).then(.waitForSignal(gate), .send("later")))
            let trace = stage.session.trace(bytes: 100, showingSecrets: true)
            async let body = stage.session.get("/", as: .string).value
            var received = ""
            for await event in trace {
                guard case .step(let step, _) = event else { continue }
                if case .responseHead = step { gate.open() }
                if case .received(let bytes, _) = step { received += String(decoding: bytes, as: UTF8.self) }
                if case .responseEnd = step { break }
            }
            #expect(try await body == "later")
            #expect(received == head + "later")
        }
    }

    @Test func `a request is told from its connection to its end`() async throws {
        let lines = try await lines(
            .response(fields: ["X-A": "1"], body: "hello"), .chunked(["wo", "rld"], trailers: ["X-Sum": "7"])
        ) { session in
            _ = try await session.get("a?token=hunter2", fields: ["Authorization": "hunter2"], as: .bytes)
            _ = try await session.post("b", body: .string("12345"), as: .bytes)
        }
        #expect(!lines.joined().contains("hunter2"))
        #expect(lines.first?.contains("is new") == true)
        #expect(lines.contains { $0.contains("is used again") })
        for line in [
            "> GET /a?token=*** HTTP/1.1", "> Authorization: <redacted>", "< HTTP/1.1 200 OK", "< X-A: 1",
            "* response complete, 5 bytes of body", "> POST /b HTTP/1.1", "> Content-Length: 5",
            "< Transfer-Encoding: chunked", "< X-Sum: 7",
        ] { #expect(lines.contains(line), "\(line) in \(lines)") }
        #expect(lines.contains { $0.hasPrefix("> Host: 127.0.0.1:") })
        #expect(lines.filter { $0.hasSuffix(" bytes sent") }.count == 2)
        #expect(lines.contains { $0.contains("TLS 1.") } == Stage.isSecure)
    }

    @Test func `bytes are told only where they are asked for, and as many as are asked for`() async throws {
        let without = try await lines(.response(body: "hello")) { _ = try await $0.get("a", as: .bytes) }
        #expect(!without.contains { $0.contains("0000  ") })
        let with = try await lines(bytes: 20, showingSecrets: true, .response(body: "hello")) {
            _ = try await $0.get("a", as: .bytes)
        }
        #expect(with.contains("> 0000  47 45 54 20 2f 61 20 48 54 54 50 2f 31 2e 31 0d  GET /a HTTP/1.1."), "\(with)")
        #expect(with.contains("< 0000  48 54 54 50 2f 31 2e 31 20 32 30 30 20 4f 4b 0d  HTTP/1.1 200 OK."), "\(with)")
        #expect(with.contains { $0.hasPrefix("> and ") && $0.hasSuffix(" bytes more") })
        #expect(!with.contains { $0.contains("0020  ") })
    }

    @Test func `a body that is thrown away is told as left, and not as complete`() async throws {
        let lines = try await lines(
            [.message(.init(302, fields: ["Location": "/b", "Content-Length": "99999999"])), .send("abc")],
            .response(body: "x")
        ) { session in
            _ = try await session.get("a", as: .bytes)
        }
        #expect(lines.contains { $0.hasPrefix("* response not read to its end: ") }, "\(lines)")
        #expect(lines.filter { $0.hasPrefix("* response complete") }.count == 1, "\(lines)")
    }

    @Test func `a trace shows why a request failed`() async throws {
        let lines = try await lines([.send("HTTP/1.1 200 OK\r\nContent-Le"), .close]) { session in
            _ = try await NetworkError.thrown { _ = try await session.get("a", as: .bytes) }
        }
        #expect(lines.contains { $0.hasPrefix("! connectionClosed") }, "\(lines)")
    }

    @Test func `a trace hides the fields that the session names as secret`() async throws {
        let lines = try await lines(
            configure: { $0.secretFields = ["X-Tenant", "ticket"] },
            .response(fields: ["X-Tenant": "hunter2"], body: "")
        ) { session in
            _ = try await session.get("a?ticket=hunter2", fields: ["X-Tenant": "hunter2"], as: .bytes)
        }
        #expect(lines.contains("> GET /a?ticket=*** HTTP/1.1"), "\(lines)")
        #expect(lines.contains("< X-Tenant: <redacted>"))
        #expect(!lines.joined().contains("hunter2"))
    }

    /// The server goes on only when the client has told of what came.
    @Test func `an interim response is told before the final one has come`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let (hinted, told) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            stage.server.enqueue([
                .interim(103, ["Link": "</a.css>; rel=preload"]), .waitForSignal(hinted), .waitForSignal(told),
                .message(.init(200, fields: ["Content-Length": "0"])),
            ])
            let events = stage.session.events
            async let seen: HTTP.Status? = {
                for await event in events {
                    guard case .interimResponse(_, let head) = event else { continue }
                    told.open()
                    return head.status
                }
                return nil
            }()
            var options = HTTPSession.Options()
            options.hooks.interimResponse = { task, head in
                #expect(head.fields["link"] == "</a.css>; rel=preload")
                #expect(task.method == .get)
                hinted.open()
            }
            let response = try await stage.session.get("a", options: options, as: .bytes)
            #expect(response.interim.map(\.status) == [103])
            #expect(await seen == 103)
        }
    }

    @Test func `a reader that does not keep up is told how much it has lost`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let trace = stage.session.trace(capacity: 3)
            for _ in 0..<5 { _ = try await stage.session.get("a", as: .bytes) }
            await stage.session.shutdown()
            var (told, lost) = (0, 0)
            for await event in trace {
                switch event {
                case .step: told += 1
                case .lost(let count): lost += count
                }
            }
            // Connection, head, sent, head, end.
            #expect((told, lost) == (3, 22))
        }
    }

    @Test func `a trace by tag is of the requests with that tag alone`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let trace = stage.session.trace(tagged: "this")
            var options = HTTPSession.Options()
            _ = try await stage.session.get("a", options: options, as: .bytes)
            options.tags = ["this", "too"]
            _ = try await stage.session.get("b", options: options, as: .bytes)
            await stage.session.shutdown()
            var targets: [String] = []
            for await event in trace {
                var dumped = ""
                dump(event, to: &dumped)
                #expect(!dumped.isEmpty)
                if case .step(.requestHead(let head), let task) = event {
                    targets.append(head.target)
                    #expect(task.tags.contains("this"))
                }
            }
            #expect(targets == ["/b"])
        }
    }
}
