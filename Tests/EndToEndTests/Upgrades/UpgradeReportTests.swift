import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// What is told of the bytes of an upgraded connection, in both directions, and of its time.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Reports of upgraded connections` {
    @Test(arguments: [4, 1000])
    func `a trace has what is written and what is read`(bytes: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n"
            stage.server.enqueue([.send(Bytes("\(head)hi")), .expect("ping"), .send("pong"), .drain])
            let trace = stage.session.trace(bytes: bytes)
            let connection = try await stage.session.upgrade("x", to: "foo")
            try await connection.write("ping")
            #expect(try await connection.read(count: 6) == "hipong")
            try await connection.finishWriting()
            #expect(try await connection.read() == nil)
            await stage.session.shutdown()
            var (sent, received): ([Bytes], [Bytes]) = ([], [])
            for await event in trace {
                guard case .step(let step, _) = event else { continue }
                if case .sent(let piece, _) = step { sent.append(piece) }
                if case .received(let piece, _) = step { received.append(piece) }
            }
            #expect(sent == ["ping"])
            #expect(received.map(String.init).joined() == "hipong")
        }
    }

    @Test func `progress and metrics count what is written and what is read`() async throws {
        let last = Mutex<[String: HTTPSession.TransferProgress]>([:])
        try await Stage.with(configure: {
            $0.hooks.uploadProgress = { _, progress in last.withLock { $0["up"] = progress } }
            $0.hooks.downloadProgress = { _, progress in last.withLock { $0["down"] = progress } }
        }) { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .expect("12345"), .send("abc"), .drain))
            let connection = try await stage.session.upgrade("x", to: "foo", method: .post, body: .string("body"))
            let before = try #require(connection.metrics.hops.last)
            try await connection.write("12345")
            #expect(try await connection.read(count: 3) == "abc")
            try await connection.finishWriting()
            #expect(try await connection.read() == nil)
            let after = try #require(connection.metrics.hops.last)
            #expect(after.bytesSent - before.bytesSent == 5 && after.bodyBytes == 3)
            #expect(after.bytesReceived - before.bytesReceived == 3)
            await stage.session.shutdown()
            let (up, down) = last.withLock { ($0["up"], $0["down"]) }
            #expect(up?.isFinal == true && up?.wireBytes == 9 && up?.totalBytes == nil, "\(String(describing: up))")
            #expect(down?.isFinal == true && down?.wireBytes == 3 && down?.totalBytes == nil)
        }
    }

    @Test(arguments: [true, false])
    func `the time of each direction is that of its waits, also in an error`(reads: Bool) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .stall))
            let connection = try await stage.session.upgrade("x", to: "foo", silence: .seconds(60))
            try await clock.advance(by: .seconds(1000))
            async let failing = NetworkError.thrown {
                if reads { _ = try await connection.read() }
                while true { try await connection.write(Bytes([UInt8](repeating: 1, count: 1 << 20))) }
            }
            try await clock.waitForDeadlines()
            try await clock.advance(by: .seconds(61))
            let error = try await failing
            #expect(error.code == .timedOut)
            let hop = try #require(error.hop)
            let (waited, other): (HTTP.Phase, HTTP.Phase) = reads ? (.receive, .send) : (.send, .receive)
            #expect(hop.duration(of: waited) == .seconds(61), "\(hop)")
            #expect(hop.duration(of: other) ?? .zero < .seconds(1) && hop.total >= .seconds(1061))
        }
    }
}
