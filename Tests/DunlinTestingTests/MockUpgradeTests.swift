import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Upgrades over a mock transport` {
    @Test func `closures are the peer of an upgraded connection`() async throws {
        let mock = try Mocked()
        let got = Mutex<[Bytes?]>([])
        mock.transport.on(.get, "/x").reply(
            .upgrade(to: "foo") {
                $0 < 2 ? Bytes("piece \($0)") : nil
            } receives: { bytes in
                got.withLock { $0.append(bytes) }
            })
        let connection = try await mock.session.upgrade("x", to: ["bar", "foo"])
        #expect(connection.protocol == "foo")
        #expect(mock.transport.requests.first?.fields["Upgrade"] == "bar, foo")
        #expect(try await connection.read() == "piece 0")
        try await connection.write("a")
        #expect(try await connection.read() == "piece 1")
        #expect(try await connection.read() == nil)
        #expect(connection.isOpen)
        try await connection.finishWriting()
        #expect(!connection.isOpen && got.withLock { $0 } == ["a", nil])
        await mock.session.shutdown()
    }

    @Test(arguments: [["Upgrade": "other"], ["Connection": "close"], ["Content-Length": "1"]])
    func `a mock's 101 is judged as a server's`(fields: [String: String]) async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/x").reply(
            .upgrade(to: "foo", fields: Fields(fields)) { _ in
                nil
            } receives: { _ in
            })
        let error = try await NetworkError.thrown { _ = try await mock.session.upgrade("x", to: "foo") }
        #expect(error.code == .invalidResponse, "\(error)")
    }

    @Test func `a read that waits for a mock's peer ends when its request is cancelled`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/x").reply(
            .upgrade(to: "foo") { _ in
                try await ManualClock().sleep(for: .seconds(1))
                return nil
            } receives: { _ in
                try await ManualClock().sleep(for: .seconds(1))
            })
        let connection = try await mock.session.upgrade("x", to: "foo")
        async let reading = NetworkError.thrown { _ = try await connection.read() }
        async let writing = NetworkError.thrown { try await connection.write("a") }
        await mock.session.tasks.cancelAll()
        #expect([.cancelled, .connectionClosed].contains(try await reading.code))
        #expect([.cancelled, .connectionClosed].contains(try await writing.code))
        #expect(!connection.isOpen)
    }

    @Test func `a mock that answers with HTTP has refused`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/x").respond(.upgradeRequired, body: "no")
        let error = try await NetworkError.thrown { _ = try await mock.session.upgrade("x", to: "foo") }
        #expect(error.code == .upgradeRefused && error.response?.status == .upgradeRequired && error.body == "no")
    }
}
