import Dunlin
import DunlinTesting
import LedgerRows
import Testing

/// Answers that come while the request's body is still on its way.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Early answers` {
    typealias Reply = LoopbackServer.Reply
    typealias Producer = `Both directions at once`.Producer

    static let count = 8 << 20
    static let refusal = LoopbackServer.GeneratedBody.bytes(0..<20_000)

    enum Content: CaseIterable, Sendable {
        case bytes
        case file
        case announced
        case chunked
        case form

        func body(_ scratch: `File bodies`.Scratch) throws -> RequestBody {
            let pieces = UploadPieces(total: count)
            switch self {
            case .bytes: return .bytes(Bytes([UInt8](repeating: 0, count: count)))
            case .file: return .file(scratch.path)
            case .announced: return .stream(pieces, length: count)
            case .chunked: return .stream(pieces)
            case .form:
                return try .multipart(boundary: "B") {
                    MultipartPart.file("photo", at: scratch.path, fileName: "a.jpg")
                    MultipartPart.stream("log", length: nil, contentType: nil) { pieces }
                }
            }
        }
    }

    private static var options: HTTPSession.Options {
        var options = HTTPSession.Options()
        options.validatesResponse = false
        return options
    }

    private static func head(_ status: HTTP.Status, length: Int, _ fields: Fields = Fields()) -> LoopbackServer.Step {
        var fields = fields
        fields["Content-Length"] = "\(length)"
        return .message(.init(status, fields: fields))
    }
}

// MARK: - Refusals

extension `Early answers` {
    @Test(.rules("9112-9.5-3"), arguments: Content.allCases)
    func `an early refusal comes whole, though the rest of it comes later`(content: Content) async throws {
        var small = LoopbackServer.Configuration()
        small.receiveBuffer = 64 << 10
        let scratch = try `File bodies`.Scratch(Self.count)
        try await Stage.with(server: small, tolerating: true) { (stage: Stage) async throws in
            let reply: Reply = [Self.head(401, length: 9), .pause(.milliseconds(20)), .send("come back"), .stall]
            for _ in 0..<5 {
                stage.server.enqueue(reply.beforeBody)
                let response = try await stage.session.post(
                    "up", body: try content.body(scratch), options: Self.options, as: .string)
                #expect(response.status == 401 && response.value == "come back")
            }
            try await stage.expectHealthy()
        }
    }

    /// The operation begins when the sending has been stopped; only then does the server send the rest.
    @Test(arguments: Content.allCases)
    func `an early refusal can be read as a stream to its end`(content: Content) async throws {
        var small = LoopbackServer.Configuration()
        small.receiveBuffer = 64 << 10
        let scratch = try `File bodies`.Scratch(Self.count)
        try await Stage.with(server: small, tolerating: true) { (stage: Stage) async throws in
            for _ in 0..<5 {
                let goOn = LoopbackServer.Gate()
                let reply: Reply = [Self.head(401, length: 9), .waitForSignal(goOn), .send("come back"), .stall]
                stage.server.enqueue(reply.beforeBody)
                let body = try content.body(scratch)
                try await stage.session.withResponse(from: "up", method: .post, body: body) { response in
                    goOn.open()
                    let count = try await response.body.reduce(0) { $0 + $1.count }
                    #expect(count == 9)
                }
            }
            try await stage.expectHealthy()
        }
    }

    /// What the server has not read makes a reset of its close; what it sent before is here by then.
    @Test(.rules("9110-15.5.14-1"), arguments: Content.allCases, [false, true])
    func `an early refusal comes whole from a server that closes at once`(
        content: Content, resets: Bool
    ) async throws {
        let scratch = try `File bodies`.Scratch(Self.count)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            for _ in 0..<20 {
                let reply = Reply.response(413, body: Self.refusal).then(resets ? .reset : .close)
                stage.server.enqueue(reply.beforeBody)
                let response = try await stage.session.post(
                    "up", body: try content.body(scratch), options: Self.options, as: .bytes)
                #expect(response.status == 413 && response.value == Self.refusal)
            }
            try await stage.expectHealthy()
        }
    }

    @Test(.rules("9112-9.5-3")) func `an early refusal cancels the body's producer, whose own error is ignored`()
        async throws
    {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let reply: Reply = [Self.head(401, length: 9), .pause(.milliseconds(20)), .send("come back"), .stall]
            stage.server.enqueue(reply.beforeBody)
            let body = RequestBody.stream(Complaining())
            let response = try await stage.session.post("up", body: body, options: Self.options, as: .string)
            #expect(response.status == 401 && response.value == "come back")
            try await stage.expectHealthy()
        }
    }

    /// Waits until it is cancelled, and throws an error of its own then.
    private struct Complaining: AsyncSequence, AsyncIteratorProtocol, Sendable {
        func makeAsyncIterator() -> Complaining { self }

        mutating func next() async throws -> Bytes? {
            let (nothing, end) = AsyncStream.makeStream(of: Void.self)
            for await _ in nothing {}
            end.finish()
            throw UploadPieces.Broken()
        }
    }
}

// MARK: - Successes

extension `Early answers` {
    /// How a server gets away without the body.
    enum Departure: CaseIterable, Sendable {
        case ofAnnouncedLength
        case afterChunks
        /// Nothing was said of an end, and there is one all the same.
        case unannounced
        case ofHTTP10

        func reply(_ status: HTTP.Status) -> Reply {
            let close: Fields = ["Connection": "close"]
            switch self {
            case .ofAnnouncedLength: return Reply.response(status, fields: close, body: "hello").then(.close)
            case .afterChunks: return Reply.chunked(["hel", "lo"], status: status, fields: close).then(.close)
            case .unannounced: return Reply.response(status, body: "hello").then(.close)
            case .ofHTTP10: return [.send(Bytes("HTTP/1.0 \(status.code) Well\r\n\r\nhello")), .close]
            }
        }
    }

    private func expectCut(_ error: NetworkError, _ status: HTTP.Status = .ok) {
        #expect(error.code == .connectionClosed)
        #expect(error.requestMayHaveBeenSent && !error.isSafeToRetry)
        #expect(error.response?.status == status)
    }

    @Test(arguments: Content.allCases, Departure.allCases)
    func `an early success is an error when the peer closes before it has the body`(
        content: Content, departure: Departure
    ) async throws {
        let scratch = try `File bodies`.Scratch(Self.count)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            for _ in 0..<10 {
                stage.server.enqueue(departure.reply(.ok).beforeBody)
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.post("up", body: try content.body(scratch), as: .bytes)
                }
                expectCut(error)
                #expect(error.body == "hello")
            }
            try await stage.expectHealthy()
        }
    }

    /// Nothing is unread when the peer closes: no reset tells of it, and no write either, if there is none.
    @Test(arguments: Departure.allCases, [false, true])
    func `an early success is an error when the peer closes while the body's producer waits`(
        departure: Departure, streamed: Bool
    ) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            for _ in 0..<5 {
                stage.server.enqueue(departure.reply(.created).beforeBody)
                let body = Producer().body
                let error = try await NetworkError.thrown {
                    if streamed {
                        try await stage.session.withResponse(from: "up", method: .post, body: body) { response in
                            for try await _ in response.body {}
                        }
                    } else {
                        _ = try await stage.session.post("up", body: body, as: .bytes)
                    }
                }
                expectCut(error, .created)
            }
            try await stage.expectHealthy()
        }
    }

    /// The kernel takes the last piece, whatever the peer has done meanwhile.
    @Test(arguments: Departure.allCases)
    func `an early success is an error when the last piece is written after the peer has closed`(departure: Departure)
        async throws
    {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            for _ in 0..<20 {
                stage.server.enqueue(departure.reply(.ok).beforeBody)
                let producer = Producer()
                let error = try await NetworkError.thrown {
                    try await stage.session.withResponse(from: "up", method: .post, body: producer.body) { response in
                        try await stage.server.wait { $0.open == 0 }
                        producer.permits.continuation.yield("the last")
                        producer.permits.continuation.finish()
                        for try await _ in response.body {}
                    }
                }
                expectCut(error)
            }
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: Content.allCases, [404, 503, 304] as [HTTP.Status])
    func `an early response that is no success is delivered, whatever became of the body`(
        content: Content, status: HTTP.Status
    ) async throws {
        let scratch = try `File bodies`.Scratch(Self.count)
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            let departures = status == 304 ? [.unannounced] : Departure.allCases.filter { $0 != .ofHTTP10 }
            for departure in departures {
                stage.server.enqueue(departure.reply(status).beforeBody)
                let response = try await stage.session.post(
                    "up", body: try content.body(scratch), options: Self.options, as: .string)
                #expect(response.status == status && response.value == (status == 304 ? "" : "hello"))
            }
            try await stage.expectHealthy()
        }
    }

    /// The request asks for the close, and so the server closes once it has the body.
    @Test(arguments: Content.allCases, [false, true])
    func `an early success counts when the peer takes the body and closes then`(
        content: Content, announced: Bool
    ) async throws {
        let scratch = try `File bodies`.Scratch(Self.count)
        try await Stage.with { (stage: Stage) async throws in
            let fields: Fields = announced ? ["Connection": "close"] : [:]
            for _ in 0..<3 {
                stage.server.enqueue(Reply.response(fields: fields, body: "hello").beforeBody)
                var options = Self.options
                options.fields["Connection"] = "close"
                let response = try await stage.session.post(
                    "up", body: try content.body(scratch), options: options, as: .string)
                #expect(response.value == "hello")
                try await stage.server.wait { $0.open == 0 }
                #expect(stage.server.requests.last?.isComplete == true)
            }
        }
    }

    /// It may take a while until a producer that has given all says so.
    @Test func `an early success counts when the peer closes before the producer of a whole body has ended`()
        async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(Reply.response(body: "hello").beforeBody)
            let producer = Producer()
            let body = RequestBody.stream(Producer.Chunks(producer: producer), length: 8)
            let received = try await stage.session.withResponse(
                from: "up", method: .post, fields: ["Connection": "close"], body: body
            ) { response in
                producer.permits.continuation.yield("the last")
                try await stage.server.wait { $0.open == 0 }
                var received: [UInt8] = []
                for try await piece in response.body { received += piece }
                return String(decoding: received, as: UTF8.self)
            }
            #expect(received == "hello")
            #expect(stage.server.requests.last?.body == "the last")
        }
    }

    @Test func `an early success counts when the peer takes the body and does not close as it said`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { (stage: Stage) async throws in
            let reply = Reply.response(fields: ["Connection": "close"], body: "hello").then(.drain)
            stage.server.enqueue(reply.beforeBody)
            let task = Task {
                let body = RequestBody.stream(UploadPieces(total: Self.count))
                return try await stage.session.post("up", body: body, as: .string).value
            }
            try await clock.advance(by: .milliseconds(20), until: "the connection is given up") {
                stage.server.connectionCount == 1 && stage.server.openConnections == 0
            }
            #expect(try await task.value == "hello")
        }
    }
}
