import Dunlin
import DunlinTesting
import LedgerRows
import Testing

/// An end of a stream is the end of a response only if the server said so.
@Suite(.timeLimit(.minutes(10)))
struct `The end of a response over TLS` {
    private enum Framing: CaseIterable, Sendable {
        case length, chunks, close

        var response: Bytes {
            switch self {
            case .length: "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nthe end"
            case .chunks: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nthe\r\n4\r\n end\r\n0\r\n\r\n"
            case .close: "HTTP/1.1 200 OK\r\n\r\nthe end"
            }
        }

        /// How much of the response is a head.
        var headCount: Int { response.count - (self == .chunks ? 24 : 7) }
    }

    private static func body(_ session: HTTPSession, isStreamed: Bool) async throws -> String {
        guard isStreamed else { return try await session.get("x", as: .string).value }
        return try await session.withResponse(from: "x") { response in
            var bytes: [UInt8] = []
            for try await piece in response.body { bytes += piece }
            return String(Bytes(bytes))
        }
    }

    @Test(.rules("9112-8-4", "9112-9.8-1", "9112-9.8-2"), arguments: Framing.allCases, [true, false])
    private func `a response cut at any byte without a close_notify is an error`(
        framing: Framing, isStreamed: Bool
    ) async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            let whole = framing.response
            for count in 0...whole.count {
                stage.server.enqueue([.send(whole[0..<count]), .cut])
                if count == whole.count, framing != .close {
                    // The response says itself where it ends. Its connection is gone all the same.
                    #expect(try await Self.body(stage.session, isStreamed: isStreamed) == "the end")
                    try await eventually("the connection is gone", following: stage.loop, stage.server) {
                        stage.session.connections.open == 0
                    }
                    break
                }
                let error = try await NetworkError.thrown {
                    _ = try await Self.body(stage.session, isStreamed: isStreamed)
                }
                #expect(error.code == .connectionClosed, "after \(count) bytes")
                #expect(error.phase == (count == 0 ? .firstByte : .receive), "after \(count) bytes")
                #expect(error.requestMayHaveBeenSent)
                #expect(stage.session.connections.open == 0)
            }
        }
    }

    @Test(.rules("9112-8-4"), arguments: Framing.allCases, [true, false])
    private func `a close_notify at any byte ends only a response that may end there`(
        framing: Framing, isStreamed: Bool
    ) async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            let whole = framing.response
            for count in 0...whole.count {
                stage.server.enqueue([.send(whole[0..<count]), .close])
                let mayEnd = framing == .close ? count >= framing.headCount : count == whole.count
                do {
                    let body = try await Self.body(stage.session, isStreamed: isStreamed)
                    #expect(mayEnd, "after \(count) bytes")
                    #expect(body == (framing == .close ? String(whole[framing.headCount..<count]) : "the end"))
                } catch let error as NetworkError {
                    #expect(!mayEnd, "after \(count) bytes: \(error)")
                    #expect(error.code == .connectionClosed)
                }
                try await eventually("the connection is gone", following: stage.loop, stage.server) {
                    stage.session.connections.open == 0
                }
            }
        }
    }

    @Test(arguments: [1, 1000, 16_384, 16_385, 100_000, 3 << 20])
    func `the end of a long body is told apart from a cut`(count: Int) async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            let body = LoopbackServer.GeneratedBody.bytes(0..<count)
            for isWhole in [true, false] {
                for isStreamed in [true, false] {
                    stage.server.enqueue([.message(.init(.ok)), .send(body), isWhole ? .close : .cut])
                    let result = await Task { try await Self.count(stage.session, isStreamed: isStreamed) }.result
                    if isWhole {
                        #expect(try result.get() == count)
                    } else {
                        let error = try await NetworkError.thrown { _ = try result.get() }
                        #expect(error.code == .connectionClosed)
                    }
                }
            }
        }
    }

    private static func count(_ session: HTTPSession, isStreamed: Bool) async throws -> Int {
        guard isStreamed else { return try await session.get("x", as: .bytes).value.count }
        return try await session.withResponse(from: "x") { try await $0.body.reduce(0) { $0 + $1.count } }
    }

    @Test(arguments: [LoopbackServer.Step.halfClose, .close, .cut, .reset])
    func `the end of an idle connection is noticed, and the connection is dropped`(end: LoopbackServer.Step)
        async throws
    {
        try await SecureStage.with { (stage: SecureStage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "x").then(.waitForSignal(gate), end, .drain))
            #expect(try await stage.session.get("x", as: .string).value == "x")
            #expect(stage.session.connections.idle == 1)
            gate.open()
            try await eventually("the connection is dropped", following: stage.loop, stage.server) {
                stage.session.connections.open == 0
            }
            #expect(stage.loop.openChannels == 0)
            try await stage.expectHealthy()
        }
    }

    @Test(.rules("9112-9.5-1", "9112-9.8-3")) func `the client sends a close_notify however a connection ends`()
        async throws
    {
        let clock = ManualClock()
        try await SecureStage.with(
            clock: clock,
            configure: { configuration, _ in
                configuration.connections.idleTime = .seconds(10)
                configuration.connections.maximumUses = 2
            }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            // Used as often as it may be.
            for _ in 0..<2 { _ = try await stage.session.get("x", as: .bytes) }
            try await stage.server.wait { $0.goodbyes == 1 }
            // Idle for too long.
            _ = try await stage.session.get("x", as: .bytes)
            try await clock.advance(by: .seconds(11))
            try await stage.server.wait { $0.goodbyes == 2 }
            // Left in the middle of a body.
            stage.server.enqueue([.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"), .drain])
            try await stage.session.withResponse(from: "x") { #expect($0.status == .ok) }
            try await stage.server.wait { $0.goodbyes == 3 }
            // A session that nobody holds any more.
            do {
                let other = try stage.anotherSession()
                _ = try await other.get("x", as: .bytes)
            }
            try await stage.server.wait { $0.goodbyes == 4 }
            // One that is ended, with a request underway.
            #expect(try await stage.session.prewarm(2) == 2)
            stage.server.enqueue([.drain])
            let session = stage.session
            let running = Task { _ = try await session.get("x", as: .bytes) }
            _ = try await stage.server.waitForRequests(6)
            await session.shutdown()
            _ = await running.result
            try await stage.server.wait { $0.goodbyes == 6 && $0.open == 0 }
        }
    }
}
