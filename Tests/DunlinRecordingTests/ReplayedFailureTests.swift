import Dunlin
import DunlinTesting
import Folders
import Testing

@testable import DunlinRecording

@Suite(.timeLimit(.minutes(10))) struct `Failures that are replayed` {
    /// `some text, some text`, by gzip.
    private static let coded = Bytes([
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x2B, 0xCE, 0xCF, 0x4D, 0x55, 0x28, 0x49, 0xAD,
        0x28, 0xD1, 0x51, 0x28, 0x86, 0x31, 0x01, 0xF4, 0xBA, 0x34, 0xEA, 0x14, 0x00, 0x00, 0x00,
    ])

    /// How a request with the limit ends.
    private static func outcome(
        _ server: LoopbackServer, _ transport: RecordedTransport?, _ recorder: HARRecorder?, _ limit: Duration
    ) async throws -> String {
        let client = try HTTPSession(baseURL: server.baseURL) { configuration in
            if let transport { configuration.transport = transport }
            if let recorder { configuration.observers.append(recorder) }
        }
        var outcome: String
        do {
            outcome = try await client.get("a", timeout: limit, as: .bytes).value.hex
        } catch {
            outcome = (error as? NetworkError)?.code.rawValue ?? "\(error)"
        }
        await client.shutdown()
        return outcome
    }

    /// How a request ends live, and when it is replayed of what a recorder and a transport have recorded.
    private static func outcomes(_ reply: LoopbackServer.Reply, _ limit: Duration = .seconds(60)) async throws
        -> [String]
    {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        server.respond { _ in reply }
        let paths = ["\(folder.path)/a.har", "\(folder.path)/b.har"]
        let recorder = try HARRecorder(paths[0], .init(bodyLimit: 1 << 20))
        var outcomes = [try await outcome(server, nil, recorder, limit)]
        try await recorder.finish()
        let live = try RecordedTransport(paths[1], .recordAnew)
        outcomes.append(try await outcome(server, live, nil, limit))
        try await live.finish()
        for path in paths {
            let transport = try RecordedTransport(path)
            outcomes.append(try await outcome(server, transport, nil, limit))
            // Where time is short, it may be over before the request is sent.
            if limit > .seconds(10) { try await transport.finish() }
        }
        return outcomes
    }

    @Test func `a body that breaks off within a coding, a character or JSON breaks off again`() async throws {
        let length = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n"
        for reply in [
            .raw(Bytes(length + "Content-Encoding: gzip\r\n\r\n")).then(.send(Self.coded[0..<20]), .close),
            .raw(Bytes(length + "Content-Type: text/plain\r\n\r\n")).then(.send([0x61, 0xD1]), .close),
            .raw(Bytes(length + "Content-Type: application/json\r\n\r\n{\"token\": \"a")).then(.close),
        ] as [LoopbackServer.Reply] {
            #expect(try await Self.outcomes(reply) == Array(repeating: "connectionClosed", count: 4))
        }
    }

    @Test(
        arguments: [
            .response(body: "x").delayed(.seconds(60)),
            .response(body: Bytes(repeatElement(0x61, count: 1000))).stallingAfter(300),
        ] as [LoopbackServer.Reply])
    func `a request whose time is over times out again, before the head and within the body`(
        reply: LoopbackServer.Reply
    ) async throws {
        let outcomes = try await Self.outcomes(reply, .seconds(2))
        #expect(outcomes == Array(repeating: "timedOut", count: 4))
    }

    @Test func `a recorder says of a cancelled exchange why its request has ended`() async throws {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        server.respond { _ in .response(body: "x").delayed(.seconds(60)) }
        let recorder = try HARRecorder("\(folder.path)/a.har")
        _ = try await Self.outcome(server, nil, recorder, .seconds(2))
        let client = try HTTPSession(baseURL: server.baseURL) { $0.observers.append(recorder) }
        let task = try client.task("b", as: .string)
        task.resume()
        _ = try await server.waitForRequests(2)
        task.cancel()
        await #expect(throws: NetworkError.self) { try await task.value }
        await client.shutdown()
        try await recorder.finish()
        let har = try HAR(contentsOf: "\(folder.path)/a.har")
        #expect(har.entries.map(\.response.error) == ["timedOut", "cancelled"])
    }

    @Test func `what a session had sent again by itself is replayed once`() async throws {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        let path = "\(folder.path)/a.har"
        let recorder = try HARRecorder(path, .init(bodyLimit: 1 << 20))
        func play(_ configure: (inout HTTPSession.Configuration) -> Void) async throws -> [String] {
            let client = try HTTPSession(baseURL: server.baseURL, configure)
            var values: [String] = []
            for target in ["a", "b"] { values.append(try await client.get(HTTP.Target(target), as: .string).value) }
            await client.shutdown()
            return values
        }
        server.enqueue(.response(body: "a"), .response(body: "b").resetAfter(0), .response(body: "b"))
        #expect(try await play { $0.observers.append(recorder) } == ["a", "b"])
        try await recorder.finish()
        #expect(try HAR(contentsOf: path).entries.map(\.response.status) == [200, 0, 200])
        let transport = try RecordedTransport(path)
        #expect(try await play { $0.transport = transport } == ["a", "b"])
        try await transport.finish()
    }

    @Test func `what is sent again by the session that records is one exchange of the test`() async throws {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        let path = "\(folder.path)/a.har"
        func play(_ transport: RecordedTransport) async throws -> [String] {
            let client = try HTTPSession(baseURL: server.baseURL) { $0.transport = transport }
            var values: [String] = []
            for target in ["a", "b"] { values.append(try await client.get(HTTP.Target(target), as: .string).value) }
            await client.shutdown()
            try await transport.finish()
            return values
        }
        // The server closes the connection as the second request comes.
        server.enqueue(.response(body: "a"), .response(body: "b").resetAfter(0), .response(body: "b"))
        #expect(try await play(RecordedTransport(path, .recordAnew)) == ["a", "b"])
        #expect(server.requests.count == 3)
        #expect(try HAR(contentsOf: path).entries.map(\.response.status) == [200, 200])
        #expect(try await play(RecordedTransport(path)) == ["a", "b"])
    }
}
