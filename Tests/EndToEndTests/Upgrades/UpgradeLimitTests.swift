import Dunlin
import DunlinTesting
import Mocking
import Testing

/// Limits of a request that offers another protocol.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Limits of upgrades` {
    @Test func `the total ends with the 101, also where its connection is wrapped`() async throws {
        let clock = ManualClock()
        let observer = RecordingObserver()
        try await Stage.with(
            clock: clock,
            configure: {
                $0.timeouts.total = .seconds(5)
                $0.observers = [observer]
                $0.hooks.data = { _, _ in }
                $0.interceptors = [
                    .exchange { try await WrappingBody.wrapped($1($0)) },
                    .call { try await WrappingBody.wrapped($1($0)) },
                ]
            }
        ) { (stage: Stage) async throws in
            stage.server.enqueue(.upgrade(to: "foo", .expect("a"), .send("b"), .expect("c"), .send("d"), .drain))
            let connection = try await stage.session.upgrade("x", to: "foo")
            try await clock.advance(by: .seconds(50))
            try await connection.write("a")
            #expect(try await connection.read() == "b")
            async let reading = connection.read()
            try await clock.advance(by: .seconds(50))
            try await connection.write("c")
            #expect(try await reading == "d")
            try await connection.finishWriting()
            #expect(try await connection.read() == nil)
            await stage.session.shutdown()
            #expect(observer.isBalanced && observer.requests.first?.bodies == ["complete"])
        }
    }

    @Test(arguments: [HTTPSession.RequestTimeouts(readIdle: .seconds(5)), .init(total: .seconds(5))])
    func `a refusal whose body does not come is waited for within the limits`(
        timeouts: HTTPSession.RequestTimeouts
    ) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            let (half, come) = ("HTTP/1.1 403 Forbidden\r\nContent-Length: 10\r\n\r\nhalf", LoopbackServer.Gate())
            stage.server.enqueue([.send(Bytes(half)), .stall])
            var options = HTTPSession.Options(timeouts: timeouts)
            options.hooks.response = { _, _ in
                come.open()
                return .accept
            }
            async let failing = stage.upgradeFailure(options: options)
            try await come.opened()
            try await clock.advance(by: .seconds(6), until: "it is over") { stage.session.connections.open == 0 }
            let error = try await failing
            #expect(error.code == .upgradeRefused && error.response?.status == 403, "\(error)")
            try await stage.server.wait { $0.open == 0 }
        }
    }
}
