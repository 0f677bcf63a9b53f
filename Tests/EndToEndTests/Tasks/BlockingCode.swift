import Dunlin
import DunlinTesting
import Folders
import Synchronization

/// A place where a program's own code is called on behalf of a request, and may hold on to the thread it is called on.
enum BlockingCode: String, CaseIterable, Sendable {
    case redirectHook, newBodyHook, responseHook, destinationHook, dataHook, uploadProgressHook, downloadProgressHook
    case waitingHook, retryingHook, transferEndedHook, metricsHook, completedHook, authenticateHook
    case bodyMaker, bodyProducer, formPart, trailerMaker, requestSerializer
    case validation, serializer, watchedSerializer, handleSerializer, longSerializerOnLoop
    case progressOfDownload, destinationDecision, streamScope, listener
    case resolver, networkSource, transport, transportBody

    /// Called in the caller's own place, wherever that is.
    var isCallers: Bool {
        switch self {
        case .requestSerializer, .validation, .serializer, .watchedSerializer, .streamScope, .listener: true
        default: false
        }
    }
}

/// One request whose code blocks, beside others that are not to notice.
struct BlockingRequest: Sendable {
    let code: BlockingCode
    let holdup: Holdup
    private let network = ManualNetwork()

    init(_ code: BlockingCode, _ holdup: Holdup) {
        self.code = code
        self.holdup = holdup
    }

    var isSecure: Bool { code == .authenticateHook }

    func configure(_ configuration: inout HTTPSession.Configuration) {
        switch code {
        case .resolver, .networkSource, .waitingHook:
            configuration.resolver = Names(holdup: code == .resolver ? holdup : nil)
            let source = Network(holdup: code == .networkSource ? holdup : nil, network: network)
            configuration.reachability = Reachability(source: source)
        case .transport, .transportBody:
            configuration.transport = transport
        default: break
        }
    }

    /// The session that others make their requests with: the same, unless these would need its transport's threads.
    func others(beside stage: Stage) throws -> HTTPSession {
        guard code == .transport || code == .transportBody else { return stage.session }
        var configuration = try Stage.configuration(for: stage.server)
        configuration.use(stage.loop)
        return try HTTPSession(configuration)
    }

    private var transport: MockTransport {
        let transport = MockTransport()
        transport.otherwise { [self] _ in
            if code == .transport { holdup.block() }
            return .stream { index in
                if code == .transportBody { holdup.block() }
                return index == 0 ? "x" : nil
            }
        }
        return transport
    }

    /// Knows every name, but not the first time unless it takes its time then.
    private final class Names: Resolver {
        private let holdup: Holdup?
        private let hasBeenAsked = Atomic<Bool>(false)

        init(holdup: Holdup?) {
            self.holdup = holdup
        }

        func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
            holdup?.block()
            let isFirst = !hasBeenAsked.exchange(true, ordering: .relaxed)
            return isFirst && holdup == nil ? [] : [.v4(0x7f00_0001, port: port)]
        }
    }

    private struct Network: Reachability.PathMonitor {
        let holdup: Holdup?
        let network: ManualNetwork

        func changes() -> AsyncStream<Void> { network.changes() }

        func path(to address: HTTP.SocketAddress?) async -> Reachability.Path {
            let path = await network.path(to: address)
            holdup?.block()
            return path
        }
    }
}

// MARK: - Requests

extension BlockingRequest {
    /// Makes the request. Ends when it has.
    func make(on stage: Stage) async throws {
        switch code {
        case .redirectHook, .newBodyHook, .retryingHook: try await makeTwice(stage)
        case .bodyMaker, .bodyProducer, .formPart, .trailerMaker, .uploadProgressHook: try await upload(stage)
        case .destinationHook, .progressOfDownload, .destinationDecision: try await download(stage)
        case .validation, .serializer, .watchedSerializer, .handleSerializer, .longSerializerOnLoop:
            try await serialize(stage)
        case .waitingHook, .networkSource, .resolver: try await findNetwork(stage)
        case .responseHook, .dataHook, .downloadProgressHook, .transferEndedHook, .metricsHook, .completedHook,
            .authenticateHook:
            stage.server.enqueue(.response(body: "x"))
            _ = try await stage.session.get("blocked", options: options, as: .bytes)
        case .requestSerializer:
            stage.server.enqueue(.response(body: "x"))
            let serializer = RequestSerializer.custom { [holdup] _ in
                holdup.block()
                return .string("x")
            }
            _ = try await stage.session.post("blocked", parameters: ["a": 1], using: serializer, as: .bytes)
        case .streamScope:
            stage.server.enqueue(.chunked(["one", "two"]))
            try await stage.session.withResponse(from: "blocked") { response in
                for try await _ in response.body { holdup.block() }
            }
        case .listener:
            stage.server.enqueue(.response(body: "x"))
            let events = stage.session.events
            async let end: Void = Self.listen(to: events, holdup)
            _ = try await stage.session.get("blocked", as: .bytes)
            await end
        case .transport, .transportBody:
            _ = try await stage.session.get("blocked", as: .bytes)
        }
    }

    private static func listen(to events: AsyncStream<HTTPSession.Event>, _ holdup: Holdup) async {
        for await case .completed in events { return holdup.block() }
    }

    /// What is asked of the request alone, so that the others have nothing to do with it.
    private var options: HTTPSession.Options {
        var options = HTTPSession.Options(retry: .constant(attempts: 2, every: .milliseconds(1), budget: .unlimited))
        let holdup = holdup
        switch code {
        case .redirectHook:
            options.hooks.redirect = { _ in
                holdup.block()
                return nil
            }
        case .newBodyHook:
            options.hooks.replacementBody = { _ in
                holdup.block()
                return .string("new")
            }
        case .responseHook:
            options.hooks.response = { _, _ in
                holdup.block()
                return nil
            }
        case .destinationHook:
            options.hooks.destination = { _, _ in
                holdup.block()
                return nil
            }
        case .dataHook: options.hooks.data = { _, _ in holdup.block() }
        case .uploadProgressHook: options.hooks.uploadProgress = { _, _ in holdup.block() }
        case .downloadProgressHook: options.hooks.downloadProgress = { _, _ in holdup.block() }
        case .waitingHook: options.hooks.waitingForConnectivity = { _, _ in holdup.block() }
        case .retryingHook: options.hooks.retrying = { _, _ in holdup.block() }
        case .transferEndedHook: options.hooks.transferEnded = { _, _ in holdup.block() }
        case .metricsHook: options.hooks.metrics = { _, _ in holdup.block() }
        case .completedHook: options.hooks.completed = { _ in holdup.block() }
        case .authenticateHook:
            options.authenticationHandler = { _ in
                holdup.block()
                return .performDefault
            }
        default: break
        }
        return options
    }

    /// A hook is asked between the two.
    private func makeTwice(_ stage: Stage) async throws {
        let first: LoopbackServer.Reply =
            code == .retryingHook ? .response(503) : .response(307, fields: ["Location": "/to"])
        stage.server.enqueue(first, .response(body: "x"))
        if code == .retryingHook {
            _ = try await stage.session.get("blocked", options: options, as: .bytes)
        } else {
            let body = RequestBody.stream(UploadPieces(total: 10))
            let replayable = RequestBody.replayable { UploadPieces(total: 10) }
            _ = try await stage.session.post(
                "blocked", body: code == .newBodyHook ? body : replayable, options: options, as: .bytes)
        }
    }

    private func upload(_ stage: Stage) async throws {
        stage.server.enqueue(.response(body: "x"))
        let holdup = holdup
        let pieces = UploadPieces(total: 10)
        let body: RequestBody
        switch code {
        case .bodyMaker:
            body = .replayable {
                holdup.block()
                return pieces
            }
        case .bodyProducer: body = .stream(Blocking(holdup: holdup))
        case .formPart:
            body = try .multipart { MultipartPart.stream("file") { Blocking(holdup: holdup) } }
        case .trailerMaker:
            body = .replayable { pieces }.withTrailers("X-Sum") {
                holdup.block()
                return ["X-Sum": "1"]
            }
        default: body = .replayable { pieces }
        }
        _ = try await stage.session.post("blocked", body: body, options: options, as: .bytes)
    }

    /// One piece, which takes its time.
    private struct Blocking: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let holdup: Holdup
        var isFirst = true

        func makeAsyncIterator() -> Blocking { self }

        mutating func next() async throws -> Bytes? {
            guard isFirst else { return nil }
            isFirst = false
            holdup.block()
            return "piece"
        }
    }

    private func download(_ stage: Stage) async throws {
        stage.server.enqueue(.response(body: "x"))
        let (holdup, folder) = (holdup, try Folder())
        let destination = HTTPSession.Destination.file("\(folder.path)/file")
        let decided = HTTPSession.Destination.resolved { _, _ in
            holdup.block()
            return destination
        }
        if code == .progressOfDownload {
            _ = try await stage.session.download("blocked", to: destination) { _ in holdup.block() }
        } else {
            _ = try await stage.session.download(
                "blocked", options: options, to: code == .destinationDecision ? decided : destination)
        }
    }

    /// By an ordinary caller; or one on the loop, of more than is made a value of there.
    private func serialize(_ stage: Stage) async throws {
        let (session, isLong) = (stage.session, code == .longSerializerOnLoop)
        stage.server.enqueue(.generated(length: isLong ? 100_000 : 10))
        let serializer = Slow(holdup: holdup, validates: code == .validation)
        switch code {
        case .watchedSerializer:
            var options = HTTPSession.Options()
            options.hooks.completed = { _ in }
            _ = try await session.get("blocked", options: options, as: serializer)
        case .handleSerializer:
            _ = try await session.onEventLoop { @concurrent in
                try await session.task("blocked", as: serializer).value
            }
        case .longSerializerOnLoop:
            _ = try await session.onEventLoop { @concurrent in try await session.get("blocked", as: serializer) }
        default: _ = try await session.get("blocked", as: serializer)
        }
    }

    private struct Slow: ResponseSerializer {
        let holdup: Holdup
        let validates: Bool

        func validate(_ response: HTTP.WholeResponse) throws {
            if validates { holdup.block() }
        }

        func serialize(_ response: HTTP.WholeResponse) throws {
            if !validates { holdup.block() }
        }
    }

    private func findNetwork(_ stage: Stage) async throws {
        stage.server.enqueue(.response(body: "x"))
        var options = options
        options.waitsForConnectivity = true
        async let response = stage.session.get(
            "http://nowhere.test:\(stage.server.port)/blocked", options: options, as: .bytes)
        if code != .resolver { try await stage.eventually("it waits") { network.lookCount > 0 } }
        network.change(to: .wired)
        _ = try await response
    }
}
