import Dunlin
import DunlinTesting
import DunlinTypes
import Mocking
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `The pings of a WebSocket` {
    @Test func `a long message that the peer takes slowly is no silence`() async throws {
        let (clock, gate) = (ManualClock(), WriteGate())
        let mock = try MockedSocket(clock: clock, receives: gate.pass)
        let socket = try await mock.open()
        let message = Bytes([UInt8](repeating: 7, count: 256 * 1024))
        let sending = Task { try await socket.send(message) }
        // Each of four frames is written in five pieces.
        for _ in 0..<20 {
            await gate.arrival()
            try await clock.advance(by: .seconds(15))
            gate.letThrough()
        }
        try await sending.value
        #expect(
            socket.isOpen && mock.peer.frames.map(\.kind) == [.binary, .continuation, .continuation, .continuation])
    }

    @Test func `messages that the system takes at once are no sign of the peer`() async throws {
        let clock = ManualClock()
        let mock = try MockedSocket(clock: clock)
        let socket = try await mock.open()
        for _ in 0..<5 {
            try await clock.advance(by: .seconds(11))
            do { try await socket.send("a") } catch {}
        }
        let error = try await NetworkError.thrown { _ = try await socket.all() }
        #expect(error.underlying as? HTTP.WebSocketError == .noPong)
    }

    @Test func `each ping is timed from the frame that it went with`() async throws {
        let (clock, gate) = (ManualClock(), WriteGate())
        let mock = try MockedSocket(clock: clock, receives: gate.pass)
        let socket = try await mock.open()
        let sending = Task { try await socket.send("a") }
        await gate.arrival()
        let first = Task { try await socket.ping() }
        try await eventually("it waits") { await socket.driver.pings.count == 1 }
        let second = Task { try await socket.ping() }
        try await eventually("they wait") { await socket.driver.pings.count == 2 }
        try await clock.advance(by: .seconds(5))
        gate.letThrough()
        try await sending.value
        await gate.arrival()
        try await clock.advance(by: .seconds(3))
        gate.letThrough()
        await gate.arrival()
        gate.letThrough()
        _ = await mock.peer.next()
        _ = await mock.peer.next()
        let last = try #require(await mock.peer.next())
        try await clock.advance(by: .seconds(2))
        mock.peer.send(.pong(last.payload))
        #expect(try await first.value == .seconds(5))
        #expect(try await second.value == .seconds(2))
    }
}
