import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Opening a WebSocket` {
    @Test(
        .rules("6455-3-1", "6455-3-2"),
        arguments: [
            ("ws://chat.test/x", "http://chat.test"), ("WSS://chat.test/x", "https://chat.test"),
            ("wss://chat.test/x", "https://chat.test"), ("ws://chat.test/x#y", "http://chat.test"),
            ("/x", "http://api.test"),
        ])
    func `the scheme ws stands for http, and wss for https`(target: String, origin: String) async throws {
        let mock = try MockedSocket()
        let socket = try await mock.session.webSocket(.url(target))
        let request = try #require(mock.mocked.transport.requests.first)
        #expect("\(request.origin)" == origin && request.target == "/x")
        #expect(socket.isOpen && socket.closeCode == nil)
    }

    @Test func `other calls do not know these schemes`() async throws {
        let mocked = try Mocked()
        for target in ["ws://chat.test/x", "wss://chat.test/x"] {
            let error = try await NetworkError.thrown { _ = try await mocked.session.get(.url(target), as: .bytes) }
            #expect(error.code == .unsupportedScheme)
        }
    }

    @Test(.rules("6455-3-3", "6455-4.1-7", "6455-4.1-8", "6455-4.1-10", "6455-4.1-14"))
    func `the request has the fields of a handshake, those of the caller, and no Origin by itself`() async throws {
        let mock = try MockedSocket(accepting: ["Sec-WebSocket-Protocol": "b"])
        let socket = try await mock.session.webSocket(
            "chat", subprotocols: ["a", "b"], query: ["room": 1], fields: ["X-Mine": "1"])
        let request = try #require(mock.mocked.transport.requests.first)
        #expect(request.method == .get && request.target == "/chat?room=1")
        #expect(request.fields["Upgrade"] == "websocket" && request.fields["Sec-WebSocket-Version"] == "13")
        #expect(request.fields["Sec-WebSocket-Protocol"] == "a, b" && request.fields["X-Mine"] == "1")
        #expect(request.fields["Sec-WebSocket-Key"]?.count == 24)
        #expect(!request.fields.contains("Origin") && !request.fields.contains("Sec-WebSocket-Extensions"))
        #expect(socket.subprotocol == "b" && !socket.isCompressed)
    }

    @Test func `a token that is sent as a subprotocol is shown nowhere`() async throws {
        let token = "token.c2VjcmV0"
        let mock = try MockedSocket()
        let curl = try mock.session.task("chat", options: .init(fields: ["Sec-WebSocket-Protocol": token])).curl()
        #expect(!curl.description.contains(token) && curl.description.contains("Sec-WebSocket-Protocol"))
        let error = try await NetworkError.thrown {
            _ = try await mock.session.webSocket("chat", subprotocols: [token, token])
        }
        #expect(error.code == .invalidRequest && !"\(error)".contains(token), "\(error)")
        let trace = mock.session.trace()
        let socket = try await mock.session.webSocket("chat", subprotocols: ["chat", token])
        try await socket.close()
        await mock.session.shutdown()
        var lines: [String] = []
        for await event in trace { lines.append("\(event)") }
        #expect(!lines.isEmpty && !lines.joined().contains(token))
    }

    @Test(.rules("6455-4.1-12")) func `each handshake has a key of its own`() async throws {
        let mock = try MockedSocket()
        for _ in 0..<3 { _ = try await mock.open() }
        #expect(Set(mock.mocked.transport.requests.map { $0.fields["Sec-WebSocket-Key"] }).count == 3)
    }

    @Test(.rules("6455-4.1-12"), arguments: [false, true])
    func `a handshake that is sent again has another key, and the answer to an earlier one opens nothing`(
        isEarlier: Bool
    ) async throws {
        let mocked = try Mocked { $0.retry = .constant(attempts: 2, every: .zero, budget: .unlimited) }
        let peer = MockWebSocket()
        let first = Mutex<MockTransport.RecordedRequest?>(nil)
        mocked.transport.otherwise { request in
            let earlier = first.withLock { first in
                defer { first = first ?? request }
                return first
            }
            guard let earlier else { return .respond(.serviceUnavailable) }
            return peer.accept(isEarlier ? earlier : request)
        }
        do {
            let socket = try await mocked.session.webSocket("chat")
            #expect(!isEarlier && socket.isOpen)
        } catch let error as NetworkError {
            #expect(isEarlier && error.underlying as? HTTP.WebSocketHandshakeError == .wrongAccept, "\(error)")
        }
        #expect(Set(mocked.transport.requests.map { $0.fields["Sec-WebSocket-Key"] }).count == 2)
        #expect(mocked.transport.requests.allSatisfy { $0.fields.values(of: "Sec-WebSocket-Key").count == 1 })
    }

    @Test func `an interceptor that sends a handshake again sends another key`() async throws {
        let peer = MockWebSocket()
        let mocked = try Mocked {
            $0.interceptors = [
                .exchange { request, next in
                    let response = try await next(request)
                    return response.head.status == .serviceUnavailable ? try await next(request) : response
                }
            ]
        }
        let isFirst = Atomic(true)
        mocked.transport.otherwise { request in
            isFirst.exchange(false, ordering: .relaxed) ? .respond(.serviceUnavailable) : peer.accept(request)
        }
        #expect(try await mocked.session.webSocket("chat").isOpen)
        let keys = mocked.transport.requests.map { $0.fields.values(of: "Sec-WebSocket-Key") }
        #expect(keys.count == 2 && Set(keys).count == 2 && keys.allSatisfy { $0.count == 1 })
    }

    @Test(
        .rules("6455-7.2.1-1"),
        arguments: [
            ["Sec-WebSocket-Accept": "AAAAAAAAAAAAAAAAAAAAAAAAAAA="], ["Sec-WebSocket-Protocol": "c"],
            ["Sec-WebSocket-Extensions": "permessage-deflate"],
        ])
    func `an answer with what was not asked for opens nothing`(fields: [String: String]) async throws {
        let mock = try MockedSocket(accepting: Fields(fields))
        let error = try await NetworkError.thrown { _ = try await mock.open() }
        #expect(error.code == .invalidResponse && error.underlying is HTTP.WebSocketHandshakeError, "\(error)")
        #expect(error.request?.url == "http://api.test/chat" && error.response?.status == .switchingProtocols)
        await mock.session.shutdown()
    }

    @Test(.rules("6455-4.1-18")) func `a server that answers with HTTP has refused`() async throws {
        let mocked = try Mocked()
        mocked.transport.on(.get, "/chat").respond(.forbidden, body: "no")
        let error = try await NetworkError.thrown { _ = try await mocked.session.webSocket("chat") }
        #expect(error.code == .upgradeRefused && error.response?.status == .forbidden && error.body == "no")
    }

    @Test(.rules("6455-4.1-1")) func `what cannot be asked for is refused before anything is sent`() async throws {
        let mock = try MockedSocket()
        let twice = try await NetworkError.thrown { _ = try await mock.open(subprotocols: ["a", "a"]) }
        #expect(twice.code == .invalidRequest && twice.reason.contains("offered twice"))
        var settings = HTTPSession.WebSocketSettings()
        settings.backlogLimit = 0
        let limit = try await NetworkError.thrown { _ = try await mock.open(settings) }
        #expect(limit.code == .invalidConfiguration)
        #expect(limit.reason == "settings.backlogLimit must be above zero, not 0")
        settings = .init()
        settings.compression = .init(level: 10)
        let level = try await NetworkError.thrown { _ = try await mock.open(settings) }
        #expect(level.code == .invalidConfiguration)
        #expect(level.reason == "settings.compression.level must be from 1 to 9, not 10")
        #expect(mock.mocked.transport.requests.isEmpty)
    }
}
