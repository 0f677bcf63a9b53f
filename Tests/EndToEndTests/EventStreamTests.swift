import Dunlin
import DunlinTesting
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Event streams over connections` {
    private static let type: Fields = ["Content-Type": "text/event-stream"]

    private static func data(_ events: some AsyncSequence<ServerSentEvent, any Error>) async throws -> [String] {
        var data: [String] = []
        for try await event in events { data.append(event.data) }
        return data
    }

    /// Each byte of it alone in a chunk.
    private static func chunks(_ text: String) -> [Bytes] { text.utf8.map { Bytes([$0]) } }

    private static let all =
        "\u{FEFF}: hello\rid: 1\r\ndata: ü\ndata\r\rretry: 10\nid: x\0\ndata: b\r\n\r\n"
        + "retry: 5x\nid: 3\n\ndata: cut\nid: 4"

    @Test func `events are read to the letter however they are cut, and resumed where they broke`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            stage.server.enqueue(
                .chunked(Self.chunks(Self.all), fields: Self.type),
                .response(fields: Self.type, body: Bytes(Self.all)).closingAfter, .response(.noContent))
            let data = try await clock.skippingWaits { try await Self.data(stage.session.events("x")) }
            #expect(data == ["ü\n", "b", "ü\n", "b"])
            #expect(stage.server.requests.map { $0.fields["Last-Event-ID"] } == [nil, "3", "3"])
        }
    }

    @Test func `a stream that is reset anywhere goes on after its last complete event`() async throws {
        let clock = ManualClock()
        let text = "id: 1\ndata: a\n\nid: 2\ndata: b\n\n"
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            for count in 0...text.utf8.count {
                let reply = LoopbackServer.Reply.chunked([Bytes(text)], fields: Self.type)
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 1000\r\n\r\n"
                stage.server.enqueue(
                    LoopbackServer.Reply.raw(Bytes(head + text.prefix(count))).then(.reset), reply,
                    .response(.noContent))
                let data = try await clock.skippingWaits { try await Self.data(stage.session.events("x")) }
                #expect(data.suffix(2) == ["a", "b"])
                let id = stage.server.requests.dropLast().last?.fields["Last-Event-ID"]
                // A reset may overtake what was sent before it.
                #expect(id == nil || count >= 15, "\(count)")
                #expect(id != "2" || count >= 30, "\(count)")
            }
        }
    }

    @Test func `an ID goes to no other origin, and none of another origin is sent`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            let other = try Stage.makeServer()
            defer { other.stop() }
            let away = LoopbackServer.Reply.response(302, fields: ["Location": "\(other.baseURL)/y"])
            stage.server.enqueue(
                .response(fields: Self.type, body: "id: mine\ndata: a\n\n"), away, away, .response(.noContent))
            other.enqueue(
                .response(fields: Self.type, body: "id: theirs\ndata: b\n\n"),
                .response(fields: Self.type, body: "data: c\n\n"))
            let data = try await clock.skippingWaits { try await Self.data(stage.session.events("x")) }
            #expect(data == ["a", "b", "c"])
            #expect(stage.server.requests.map { $0.fields["Last-Event-ID"] } == [nil, "mine", "mine", "mine"])
            #expect(other.requests.map { $0.fields["Last-Event-ID"] } == [nil, nil])
        }
    }

    @Test func `redirects without end end the stream`() async throws {
        let number = Atomic(0)
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in
                .response(302, fields: ["Location": "/x\(number.add(1, ordering: .relaxed).newValue)"])
            }
            let error = try await NetworkError.thrown { _ = try await Self.data(stage.session.events("x")) }
            #expect(error.code == .tooManyRedirects && stage.server.requests.count == 21)
        }
    }

    @Test func `a flood of IDs, waits and comments is no event and takes no memory`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            let line = "id: \(String(repeating: "x", count: 5000))\nretry: 1000000000000\n: c\n\n"
            let flood = LoopbackServer.Reply.chunked(
                Array(repeating: Bytes(String(repeating: line, count: 20)), count: 50), fields: Self.type)
            stage.server.enqueue(flood, .response(fields: Self.type, body: "data: a\n\n"), .response(.noContent))
            let start = clock.now
            let data = try await clock.skippingWaits { try await Self.data(stage.session.events("x", after: "1")) }
            #expect(data == ["a"])
            #expect(stage.server.requests.allSatisfy { $0.fields["Last-Event-ID"] == "1" })
            #expect(start.duration(to: clock.now) < .seconds(700))
        }
    }

    @Test func `a guard that forbids the server forbids each attempt, and none follows`() async throws {
        try await Stage.with(configure: { $0.guard = .publicInternet }) { (stage: Stage) async throws in
            let stream = stage.session.events("x")
            let error = try await NetworkError.thrown { _ = try await Self.data(stream) }
            #expect(error.code == .guardRefused && error.retries.isEmpty && stream.attempt == 1)
            #expect(stage.server.connectionCount == 0)
        }
    }

    @Test func `a reader that stops closes the connection`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in
                LoopbackServer.Reply([
                    .message(.init(.ok, fields: Self.type)), .send("data: a\n\ndata: b\n\n"), .stall,
                ])
            }
            let stream = stage.session.events("x")
            for try await event in stream where event.data == "b" { break }
            try await stage.server.wait { $0.open == 0 }
            #expect(stage.server.requests.count == 1)
        }
    }

    @Test func `cancelling closes the connection at once, before and after the first event`() async throws {
        for isReading in [false, true] {
            try await Stage.with { (stage: Stage) async throws in
                let sent = LoopbackServer.Gate()
                stage.server.respond { _ in
                    let head: [LoopbackServer.Step] = [.message(.init(.ok, fields: Self.type)), .send("data: a\n\n")]
                    return LoopbackServer.Reply((isReading ? head : []) + [.signal(sent), .stall])
                }
                let session = stage.session
                let events = Atomic(0)
                let reading = Task {
                    for try await _ in session.events("x") { events.add(1, ordering: .relaxed) }
                }
                try await sent.opened()
                if isReading {
                    try await stage.eventually("an event") { events.load(ordering: .relaxed) == 1 }
                }
                reading.cancel()
                await #expect(throws: CancellationError.self) { try await reading.value }
                try await stage.server.wait { $0.open == 0 }
            }
        }
    }
}
