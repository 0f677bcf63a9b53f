import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Testing

/// `withResponse`: a body while it arrives, and only within its scope.
@Suite(.timeLimit(.minutes(10))) struct StreamingTests {
    @Test(.rows("OP-7")) func `pieces of a body arrive as they were sent, whatever the status`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/").reply(.stream(["one", "two"], status: .notFound, trailers: ["X-Sum": "2"]))
        let pieces = try await mock.session.withResponse(from: "/") { response in
            #expect(response.status == .notFound)
            var pieces: [String] = []
            for try await piece in response.body { pieces.append(String(piece)) }
            #expect(response.body.trailers["x-sum"] == "2")
            return pieces
        }
        #expect(pieces == ["one", "two"])
    }

    @Test(.rows("SM-40")) func `no piece is made before it is asked for`() async throws {
        let mock = try Mocked()
        let (asked, asking) = AsyncStream.makeStream(of: Int.self)
        mock.transport.on(.get, "/").reply(
            .stream { index in
                asking.yield(index)
                return index < 3 ? "x" : nil
            })
        try await mock.session.withResponse(from: "/") { response in
            var pieces = response.body.makeAsyncIterator()
            _ = try await pieces.next()
            _ = try await pieces.next()
        }
        asking.finish()
        #expect(await asked.reduce(into: []) { $0.append($1) } == [0, 1])
    }

    @Test func `a second iterator over a body throws code bodyConsumed`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/streamed").stream(["one"])
        mock.transport.on(.get, "/whole").respond(body: "one")
        for target in ["streamed", "whole"] {
            try await mock.session.withResponse(from: "\(target)") { response in
                for try await piece in response.body { #expect(piece == "one") }
                let error = try await networkError { for try await _ in response.body {} }
                #expect(error?.code == .bodyConsumed, "\(target)")
            }
        }
    }

    @Test func `a body cannot be read after its scope`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/streamed").stream(["one"])
        mock.transport.on(.get, "/whole").respond(body: "one")
        for target in ["streamed", "whole"] {
            let body = try await mock.session.withResponse(from: "\(target)") { $0.body }
            let error = try await networkError { for try await _ in body {} }
            #expect(error?.code == .bodyConsumed, "\(target)")
        }
    }

    @Test func `a scope's own error is rethrown and ends the request`() async throws {
        struct Enough: Error {}
        let mock = try Mocked()
        mock.transport.on(.get, "/").stream(["one", "two"])
        await #expect(throws: Enough.self) {
            try await mock.session.withResponse(from: "/") { response in
                #expect(await mock.session.tasks.count == 1)
                for try await _ in response.body { throw Enough() }
            }
        }
        #expect(await mock.session.tasks.count == 0)
    }

    @MainActor @Test func `a scope on the main actor may change its state`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/").stream(["one", "two"])
        var count = 0
        try await mock.session.withResponse(from: "/") { response in
            MainActor.assertIsolated()
            for try await piece in response.body { count += piece.count }
        }
        #expect(count == 6)
    }
}
