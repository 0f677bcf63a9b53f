import Dunlin
import DunlinTesting
import LedgerRows
import Testing

/// What TLS has to say for itself between the bytes of HTTP.
@Suite(.timeLimit(.minutes(10)))
struct `TLS records that are no content` {
    @Test(arguments: [1, 20])
    func `the server can change the keys in the middle of a body`(times: Int) async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            let piece = LoopbackServer.GeneratedBody.bytes(0..<40_000)
            let steps = (0..<times).flatMap { _ in [LoopbackServer.Step.renewKeys, .send(piece)] }
            let length = "\(piece.count * times)"
            stage.server.respond { _ in
                LoopbackServer.Reply([.message(.init(.ok, fields: ["Content-Length": length]))] + steps)
            }
            for _ in 0..<3 {
                let whole = try await stage.session.get("x", as: .bytes).value
                #expect(whole.count == piece.count * times && whole.suffix(40_000) == piece[...])
                let body = RequestBody.bytes(Bytes([UInt8](repeating: 1, count: 300_000)))
                _ = try await stage.session.post("x", body: body, as: .bytes)
            }
            #expect(stage.server.connectionCount == 1)
            #expect(stage.server.requests.last?.bodyCount == 300_000)
        }
    }

    @Test func `the server can change the keys between requests`() async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "1").then(.waitForSignal(gate), .renewKeys, .renewKeys))
            stage.server.respond { _ in .response(body: "2") }
            #expect(try await stage.session.get("1", as: .string).value == "1")
            gate.open()
            // Whether or not the news has been seen by then.
            for _ in 0..<3 { #expect(try await stage.session.get("2", as: .string).value == "2") }
            try await eventually("it is idle") { stage.session.connections.idle == 1 }
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `the keys can change both ways while both sides send`() async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            let piece = Bytes([UInt8](repeating: 7, count: 200_000))
            let steps = (0..<10).flatMap { _ in [LoopbackServer.Step.send(piece), .renewKeys] }
            stage.server.enqueue(
                LoopbackServer.Reply([.message(.init(.ok, fields: ["Content-Length": "2000000"]))] + steps).beforeBody)
            let body = RequestBody.stream(UploadPieces(total: 4 << 20))
            let count = try await stage.session.withResponse(from: "swap", method: .post, body: body) { response in
                try await response.body.reduce(0) { $0 + $1.count }
            }
            #expect(count == 2_000_000)
            try await eventually("the request", following: stage.loop, stage.server) {
                stage.server.requests.first?.isComplete == true
            }
            #expect(stage.server.requests.first?.body == LoopbackServer.GeneratedBody.bytes(0..<4 << 20))
            try await stage.expectHealthy()
            #expect(stage.server.connectionCount == 1)
        }
    }

    /// More than any honest server does, and each costs an answer.
    @Test func `an endless series of TLS messages without content is an error`() async throws {
        try await SecureStage.with(tolerating: true) { (stage: SecureStage) async throws in
            let flood = [LoopbackServer.Step](repeating: .renewKeys, count: 200)
            stage.server.enqueue(LoopbackServer.Reply([.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")] + flood))
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .secureConnectionFailed)
            #expect(error.reason.hasPrefix("the server sent too much over TLS: "), "\(error.reason)")
            stage.server.enqueue(LoopbackServer.Reply(LoopbackServer.Reply.response(body: "x").steps + flood))
            _ = try await stage.session.get("x", as: .bytes)
            try await eventually("the connection is dropped", following: stage.loop, stage.server) {
                stage.session.connections.open == 0
            }
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: [true, false])
    func `a server that asks to renegotiate is refused`(isIdle: Bool) async throws {
        try await SecureStage.with(tolerating: true, tls: { tls, _ in tls.versions = .v1_2 ... .v1_2 }) {
            (stage: SecureStage) async throws in
            let gate = LoopbackServer.Gate()
            if isIdle {
                stage.server.enqueue(.response(body: "x").then(.waitForSignal(gate), .renewKeys, .drain))
                #expect(try await stage.session.get("x", as: .string).value == "x")
                gate.open()
            } else {
                stage.server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), .renewKeys, .drain])
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.code == .secureConnectionFailed, "\(error)")
                #expect(error.reason.contains("the server asked to renegotiate"), "\(error.reason)")
            }
            try await stage.server.wait { $0.failures == 1 }
            #expect(stage.server.failures.first?.detail.contains("no renegotiation") == true)
            try await eventually("the connection is dropped", following: stage.loop, stage.server) {
                stage.session.connections.open == 0
            }
            try await stage.expectHealthy()
            #expect(stage.server.handshakes.count == 2)
        }
    }

    private static let garbage: [Bytes] = [
        "not a record at all", "HTTP/1.1 200 OK\r\n\r\n", Bytes([UInt8](repeating: 0, count: 40)),
        // Content, a handshake message and an alert that nobody encrypted; a record that is too long.
        Bytes([23, 3, 3, 0, 5] + Array("hello".utf8)), Bytes([22, 3, 3, 0, 4, 0, 0, 0, 0]),
        Bytes([21, 3, 3, 0, 2, 1, 0]), Bytes([23, 3, 3, 0xff, 0xff] + [UInt8](repeating: 1, count: 100)),
    ]

    @Test(.rules("9110-4.3.3-2"), arguments: garbage, [LoopbackServer.TLS.Version.v1_2, .v1_3])
    func `a record that the server did not encrypt is an error`(
        garbage: Bytes, version: LoopbackServer.TLS.Version
    ) async throws {
        try await SecureStage.with(tolerating: true, tls: { tls, _ in tls.versions = version...version }) {
            (stage: SecureStage) async throws in
            let opening: LoopbackServer.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\nsome")
            for steps in [[.outsideTLS(garbage), .drain], [opening, .outsideTLS(garbage), .drain]] {
                stage.server.enqueue(LoopbackServer.Reply(steps))
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.code == .secureConnectionFailed, "\(error)")
                #expect(error.phase == (steps.count == 2 ? .firstByte : .receive))
                stage.server.enqueue(LoopbackServer.Reply(steps))
                let streamed = try await NetworkError.thrown {
                    try await stage.session.withResponse(from: "x") { for try await _ in $0.body {} }
                }
                #expect(streamed.code == .secureConnectionFailed, "\(streamed)")
            }
            // What came before is what it is.
            stage.server.enqueue(
                LoopbackServer.Reply(LoopbackServer.Reply.response(body: "x").steps + [.outsideTLS(garbage), .drain]))
            #expect(try await stage.session.get("x", as: .string).value == "x")
            try await eventually("the connection is dropped", following: stage.loop, stage.server) {
                stage.session.connections.open == 0
            }
            // Between requests nobody is told; the connection goes.
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "x").then(.waitForSignal(gate), .outsideTLS(garbage), .drain))
            #expect(try await stage.session.get("x", as: .string).value == "x")
            gate.open()
            try await eventually("the connection is dropped", following: stage.loop, stage.server) {
                stage.session.connections.open == 0
            }
            try await stage.expectHealthy()
        }
    }
}
