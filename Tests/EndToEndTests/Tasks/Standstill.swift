import Dunlin
import DunlinTesting
import Folders
import Synchronization

/// Something that a request waits for on its way, and what brings the wait to its end.
///
/// Cookies and secret fields are not among them: their stages wait for nothing.
enum Standstill: String, CaseIterable, Sendable {
    /// The policy's wait before another attempt.
    case retry
    case redirectHook
    case network
    /// A kept connection that the server is about to close; the request is sent again on another.
    case deadConnection
    /// In the session's queue.
    case turn
    /// The body's producer makes up its mind.
    case upload
    case stream
    case download
    case serializer

    enum Means: CaseIterable, Sendable {
        case handle
        case task
    }

    static let all = allCases.flatMap { standstill in Means.allCases.map { (standstill, $0) } }.filter {
        // Who streams has no handle.
        $0 != (.stream, .handle)
    }
}

/// A request that stands still.
struct StandingRequest: Sendable {
    let cancel: @Sendable () -> Void
    /// Ends what it waits for.
    var release: @Sendable () async throws -> Void = {}
    var end: @Sendable () async -> Result<Void, any Error>
}

/// Where requests come to stand still, one after the other, each under a number that is its label too.
struct StandstillScene: Sendable {
    let standstill: Standstill
    let means: Standstill.Means
    let clock = ManualClock()
    private let network = ManualNetwork()
    private let folder: Folder

    init(_ standstill: Standstill, _ means: Standstill.Means) throws {
        (self.standstill, self.means) = (standstill, means)
        folder = try Folder()
    }

    var clockIfNeeded: ManualClock? { standstill == .retry ? clock : nil }

    func configure(_ configuration: inout HTTPSession.Configuration) {
        switch standstill {
        case .retry: configuration.retry = .constant(attempts: 2, every: .seconds(1), budget: .unlimited)
        case .network:
            configuration.resolver = Names(network: network)
            configuration.reachability = Reachability(source: network)
            configuration.waitsForConnectivity = true
        case .deadConnection: configuration.connections.perOrigin = 1
        case .turn: configuration.queue = .init(running: 1)
        default: break
        }
    }

    /// Knows every name while there is a network.
    private struct Names: Resolver {
        let network: ManualNetwork

        func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
            await network.path(to: nil).status == .notReachable ? [] : [.v4(0x7f00_0001, port: port)]
        }
    }
}

// MARK: - Requests

extension StandstillScene {
    private typealias Gate = LoopbackServer.Gate
    private typealias Reply = LoopbackServer.Reply

    /// Makes a request, and returns when it stands still.
    func begin(_ number: Int, on stage: Stage) async throws -> StandingRequest {
        switch standstill {
        case .retry: try await waitToRetry(number, stage)
        case .redirectHook: try await redirect(number, stage)
        case .network: try await waitForNetwork(number, stage)
        case .deadConnection: try await resend(number, stage)
        case .turn: try await waitForTurn(number, stage)
        case .upload: try await upload(number, stage)
        case .stream, .download: try await receive(number, stage)
        case .serializer: try await serialize(number, stage)
        }
    }

    private func options(_ number: Int) -> HTTPSession.Options { HTTPSession.Options(label: "\(number)") }

    private func request<Value>(
        _ handle: () throws -> HTTPSession.RequestTask<Value>, _ verb: @escaping @Sendable () async throws -> Void
    ) rethrows -> StandingRequest {
        if means == .task {
            let task = Task { try await verb() }
            return StandingRequest(cancel: { task.cancel() }, end: { await task.result })
        }
        let task = try handle()
        task.resume()
        return StandingRequest(cancel: { task.cancel() }, end: { await task.result.map { _ in } })
    }

    private func get(
        _ target: HTTP.Target, _ options: HTTPSession.Options, _ stage: Stage
    ) throws -> StandingRequest {
        let session = stage.session
        return try request({ try session.task(target, options: options, as: .bytes) }) {
            _ = try await session.get(target, options: options, as: .bytes)
        }
    }

    private func waitToRetry(_ number: Int, _ stage: Stage) async throws -> StandingRequest {
        stage.server.route("/\(number)") { attempt, _ in attempt == 0 ? .response(503) : .response(body: "x") }
        var request = try get("\(number)", options(number), stage)
        try await clock.waitForRetries()
        request.release = { [clock] in try await clock.advance(by: .seconds(1)) }
        return request
    }

    private func redirect(_ number: Int, _ stage: Stage) async throws -> StandingRequest {
        let (reached, door) = (Gate(), AsyncStream.makeStream(of: Void.self))
        stage.server.route(.get, "/\(number)", .response(302, fields: ["Location": "/to"]))
        stage.server.route(.get, "/to", .response(body: "x"))
        var options = options(number)
        options.hooks.redirect = { _ in
            reached.open()
            for await _ in door.stream { break }
            return nil
        }
        var request = try get("\(number)", options, stage)
        try await reached.opened()
        request.release = { door.continuation.yield() }
        return request
    }

    private func waitForNetwork(_ number: Int, _ stage: Stage) async throws -> StandingRequest {
        let reached = Gate()
        network.change(to: .notReachable)
        stage.server.route(.get, "/\(number)", .response(body: "x"))
        var options = options(number)
        options.hooks.waitingForConnectivity = { _, _ in reached.open() }
        var request = try get("http://n\(number).test:\(stage.server.port)/\(number)", options, stage)
        try await reached.opened()
        request.release = { [network] in network.change(to: .wired) }
        return request
    }

    private func resend(_ number: Int, _ stage: Stage) async throws -> StandingRequest {
        let (reached, door) = (Gate(), Gate())
        let dying = Reply.response().then(.awaitInput, .signal(reached), .waitForSignal(door), .close)
        stage.server.route(.get, "/first\(number)", dying)
        stage.server.route(.get, "/\(number)", .response(body: "x"))
        _ = try await stage.session.get("first\(number)", as: .bytes)
        var request = try get("\(number)", options(number), stage)
        try await reached.opened()
        request.release = { door.open() }
        return request
    }

    private func waitForTurn(_ number: Int, _ stage: Stage) async throws -> StandingRequest {
        let (session, reached, door) = (stage.session, Gate(), Gate())
        stage.server.route(
            .get, "/first\(number)", Reply.response(body: "x").after(.signal(reached), .waitForSignal(door)))
        stage.server.route(.get, "/\(number)", .response(body: "x"))
        let first = Task { _ = try await session.get("first\(number)", as: .bytes) }
        try await reached.opened()
        var request = try get("\(number)", options(number), stage)
        try await rest(stage)
        request.release = { door.open() }
        request.end = { [end = request.end] in
            let result = await end()
            _ = await first.result
            return result
        }
        return request
    }

    private func upload(_ number: Int, _ stage: Stage) async throws -> StandingRequest {
        let (session, options) = (stage.session, options(number))
        let (reached, door) = (Gate(), AsyncStream.makeStream(of: Void.self))
        stage.server.route(.post, "/\(number)", .response(body: "x"))
        let body = RequestBody.stream(Hesitating(reached: reached, door: door.stream))
        let target = HTTP.Target("\(number)")
        var request = try request({
            try session.task(target, method: .post, body: body, options: options, as: .bytes)
        }) { _ = try await session.post(target, body: body, options: options, as: .bytes) }
        try await reached.opened()
        request.release = { door.continuation.yield() }
        return request
    }

    /// One piece, and another when the door is opened.
    private struct Hesitating: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let reached: LoopbackServer.Gate
        let door: AsyncStream<Void>
        var pieces = 0

        func makeAsyncIterator() -> Hesitating { self }

        mutating func next() async throws -> Bytes? {
            pieces += 1
            if pieces == 2 {
                reached.open()
                for await _ in door { break }
                try Task.checkCancellation()
            }
            return pieces > 2 ? nil : "piece"
        }
    }

    /// The second half of the body takes its time.
    private func receive(_ number: Int, _ stage: Stage) async throws -> StandingRequest {
        let (session, reached, door) = (stage.session, Gate(), Gate())
        let reply = Reply.response(fields: ["Content-Length": "10"])
            .then(.send("01234"), .waitForSignal(door), .send("56789"))
        stage.server.route(.get, "/\(number)", reply)
        var options = options(number)
        options.hooks.data = { _, _ in reached.open() }
        let (target, hooked) = (HTTP.Target("\(number)"), options)
        let destination = HTTPSession.Destination.file("\(folder.path)/\(number)")
        var request: StandingRequest
        if standstill == .stream {
            let task = Task {
                try await session.withResponse(from: target, options: hooked) { response in
                    for try await _ in response.body {}
                }
            }
            request = StandingRequest(cancel: { task.cancel() }, end: { await task.result })
        } else {
            request = try self.request({ try session.downloadTask(target, options: hooked, to: destination) }) {
                _ = try await session.download(target, options: hooked, to: destination)
            }
        }
        try await reached.opened()
        request.release = { door.open() }
        return request
    }

    /// Files that are there.
    var files: [String] { get throws { try folder.names() } }

    private func serialize(_ number: Int, _ stage: Stage) async throws -> StandingRequest {
        let (session, options, door) = (stage.session, options(number), Gate())
        stage.server.route(.get, "/\(number)", .response(body: "x"))
        let (serializer, target) = (Spinning(reached: Gate(), door: door), HTTP.Target("\(number)"))
        var request = try request({ try session.task(target, options: options, as: serializer) }) {
            _ = try await session.get(target, options: options, as: serializer)
        }
        try await serializer.reached.opened()
        request.release = { door.open() }
        return request
    }

    /// It cannot wait as others do, and must not keep its thread for long: others need it.
    private struct Spinning: ResponseSerializer {
        let reached: LoopbackServer.Gate
        let door: LoopbackServer.Gate

        func serialize(_ response: HTTP.WholeResponse) throws {
            let start = ContinuousClock.now
            reached.open()
            while !door.isOpen, start.duration(to: .now) < .milliseconds(50) {}
        }
    }

    /// Returns when the loop has had nothing to do for a while.
    private func rest(_ stage: Stage) async throws {
        var looks = 0
        try await stage.eventually("the loop's rest", every: .milliseconds(2)) {
            looks = stage.loop.isResting ? looks + 1 : 0
            return looks >= 5
        }
    }
}
