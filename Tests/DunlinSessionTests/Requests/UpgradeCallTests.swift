import Dunlin
import DunlinTesting
import Mocking
import Testing

/// Answers everything with a 101, whatever was asked.
private struct Switching: Transport {
    var fields: Fields = ["Connection": "Upgrade", "Upgrade": "foo"]

    func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(head: ResponseHead(version: .http11, status: .switchingProtocols, fields: fields))
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Calls that ask for another protocol` {
    private static let echo = MockTransport.Outcome.upgrade(to: "foo") { _ in
        nil
    } receives: { _ in
    }

    private static func session(_ transport: some Transport) throws -> HTTPSession {
        try HTTPSession(.init(baseURL: "http://api.test", transport: transport))
    }

    @Test func `a custom transport's 101 is an error if nobody asked, and if it brings no connection`() async throws {
        let session = try Self.session(Switching())
        let unasked = try await NetworkError.thrown { _ = try await session.get("x", as: .bytes) }
        #expect(unasked.code == .invalidResponse, "\(unasked)")
        let empty = try await NetworkError.thrown { _ = try await session.upgrade("x", to: "foo") }
        #expect(empty.code == .invalidResponse, "\(empty)")
        await session.shutdown()
    }

    @Test func `an interceptor may change what is offered`() async throws {
        let mocked = try Mocked {
            $0.interceptors = [
                .exchange { request, next in
                    try await next(request.with { $0.head.fields["Upgrade"] = "Foo" })
                }
            ]
        }
        mocked.transport.on(.get, "/x").reply(Self.echo)
        let connection = try await mocked.session.upgrade("x", to: "bar")
        #expect(connection.protocol == "foo")
        connection.close()
        await mocked.session.shutdown()
    }

    @Test func `a 101 is an error where an interceptor took the offer away`() async throws {
        let mocked = try Mocked {
            $0.interceptors = [
                .exchange { request, next in try await next(request.with { $0.head.fields.remove("Upgrade") }) }
            ]
        }
        mocked.transport.on(.get, "/x").reply(Self.echo)
        let error = try await NetworkError.thrown { _ = try await mocked.session.upgrade("x", to: "foo") }
        #expect(error.code == .invalidResponse)
    }

    @Test(arguments: [true, false])
    func `an interceptor may not replace the connection`(isAroundCall: Bool) async throws {
        let mocked = try Mocked {
            let replace: @Sendable (TransportRequest, HTTPSession.Next) async throws -> TransportResponse = {
                let response = try await $1($0)
                return TransportResponse(head: response.head, body: .bytes("mine"))
            }
            $0.interceptors = [isAroundCall ? .call(replace) : .exchange(replace)]
        }
        mocked.transport.on(.get, "/x").reply(Self.echo)
        let error = try await NetworkError.thrown { _ = try await mocked.session.upgrade("x", to: "foo") }
        #expect(error.code == .interceptorFailed, "\(error)")
        #expect(await mocked.session.tasks.count == 0)
    }

    @Test func `observers are told one end of each, when the connection is closed`() async throws {
        let observer = RecordingObserver()
        let mocked = try Mocked { $0.observers = [observer] }
        mocked.transport.on(.get, "/x").reply(Self.echo)
        let connection = try await mocked.session.upgrade("x", to: "foo")
        #expect(try await connection.read() == nil)
        #expect(observer.requests.first?.begun.kind == .upgrade)
        #expect(observer.requests.first?.exchanges.first?.ends.isEmpty == true, "the other direction is open")
        try await connection.finishWriting()
        await mocked.session.shutdown()
        #expect(observer.isBalanced && observer.requests.first?.bodies == ["complete"])
        #expect(observer.requests.first?.ends.first?.response?.status == .switchingProtocols)
    }

    @Test func `a refusal says what was offered and what came instead`() async throws {
        let mocked = try Mocked()
        mocked.transport.on(.get, "/x").respond(.ok, body: "plain")
        let error = try await NetworkError.thrown { _ = try await mocked.session.upgrade("x", to: ["foo/2", "bar"]) }
        #expect(error.code == .upgradeRefused && "\(error)".contains("instead of switching to foo/2 or bar"))
        #expect(error.request?.url == "http://api.test/x" && error.requestMayHaveBeenSent && !error.isSafeToRetry)
    }
}
