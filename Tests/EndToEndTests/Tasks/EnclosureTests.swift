import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

/// Whoever ends a session, or waits for its requests, from within one of them.
@Suite(.timeLimit(.minutes(10)))
struct `Ending a session from within a request` {
    enum Way: CaseIterable {
        case shutdown, shutdownWithGrace, cancelAll, waitUntilEmpty

        var closes: Bool { self == .shutdown || self == .shutdownWithGrace }

        /// How many requests it stopped; nothing else runs.
        func end(_ session: HTTPSession) async throws -> Int {
            switch self {
            case .shutdown: return await session.shutdown()
            case .shutdownWithGrace: return await session.shutdown(grace: .seconds(1000))
            case .cancelAll: return await session.tasks.cancelAll()
            case .waitUntilEmpty:
                try await session.tasks.waitUntilEmpty()
                return 0
            }
        }
    }

    /// A session that is shut down gives no connection to a request that has none yet. Nil: it may have one.
    private static func expect(_ text: String, _ isRefused: Bool?, _ work: () async throws -> String) async throws {
        do {
            let value = try await work()
            #expect(value == text && isRefused != true)
        } catch let error as NetworkError where isRefused != false {
            #expect(error.code == .sessionShutDown)
        }
    }

    /// Where the session can be found by hooks, which are there before it.
    private final class Ender: Sendable {
        let session = Mutex<HTTPSession?>(nil)
        let stopped = Mutex<[Int]>([])

        func end(_ way: Way) async {
            guard let session = session.withLock({ $0 }) else { return }
            do {
                let count = try await way.end(session)
                stopped.withLock { $0.append(count) }
            } catch {
                Issue.record(error)
            }
        }
    }

    enum Hook: CaseIterable {
        case response, data, downloadProgress, uploadProgress, redirect, retrying, transferEnded, metrics, completed

        /// Whether the request still needs one then: progress is told of from the beginning.
        var needsConnection: Bool? {
            switch self {
            case .redirect, .retrying: true
            case .downloadProgress, .uploadProgress: nil
            case .response, .data, .transferEnded, .metrics, .completed: false
            }
        }
    }

    private static func hooks(_ hook: Hook, _ end: @escaping @Sendable () async -> Void) -> HTTPSession.Hooks {
        var hooks = HTTPSession.Hooks()
        switch hook {
        case .response:
            hooks.response = { _, _ in
                await end()
                return nil
            }
        case .data: hooks.data = { _, _ in await end() }
        case .downloadProgress: hooks.downloadProgress = { _, _ in await end() }
        case .uploadProgress: hooks.uploadProgress = { _, _ in await end() }
        case .redirect:
            hooks.redirect = { _ in
                await end()
                return nil
            }
        case .retrying: hooks.retrying = { _, _ in await end() }
        case .transferEnded: hooks.transferEnded = { _, _ in await end() }
        case .metrics: hooks.metrics = { _, _ in await end() }
        case .completed: hooks.completed = { _ in await end() }
        }
        return hooks
    }

    @Test(.rows("SM-10"), arguments: Hook.allCases, Way.allCases)
    func `ending a session in a hook leaves out its request, which goes on over its connection`(hook: Hook, way: Way)
        async throws
    {
        let ender = Ender()
        let configure: (inout HTTPSession.Configuration) -> Void = {
            $0.hooks = Self.hooks(hook) { await ender.end(way) }
            if hook == .retrying { $0.retry = .constant(attempts: 2, every: .milliseconds(1)) }
        }
        try await Stage.with(configure: configure) { (stage: Stage) async throws in
            if hook == .redirect { stage.server.enqueue(.response(.found, fields: ["Location": "/there"])) }
            if hook == .retrying { stage.server.enqueue(.response(.serviceUnavailable)) }
            stage.server.respond { _ in .response(body: "x") }
            ender.session.withLock { $0 = stage.session }
            let method: HTTP.Method = hook == .uploadProgress ? .put : .get
            let body: RequestBody = hook == .uploadProgress ? .string("body") : .none
            try await Self.expect("x", way.closes ? hook.needsConnection : false) {
                try await stage.session.request("a", method: method, body: body, as: .string).value
            }
            ender.session.withLock { $0 = nil }
        }
        let stopped = ender.stopped.withLock { $0 }
        #expect(!stopped.isEmpty)
        #expect(stopped.allSatisfy { $0 == 0 })
    }

    @Test(arguments: Way.allCases)
    func `ending a session in a stream's scope leaves out the stream, which can be read on`(way: Way) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.respond { _ in .response(body: "whole").dripping(2).waiting(for: gate) }
            gate.open()
            let session = stage.session
            let count = try await session.withResponse(from: "a") { response in
                #expect(try await way.end(session) == 0)
                // A child task is within the request too.
                async let again = way.end(session)
                #expect(try await again == 0)
                var count = 0
                for try await piece in response.body { count += piece.count }
                return count
            }
            #expect(count == 5)
        }
    }

    @Test(arguments: Way.allCases)
    func `ending a session in an upload's scope leaves out the upload`(way: Way) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "taken") }
            let session = stage.session
            try await session.withUpload(to: "a", body: .string("body"), as: .string) { upload in
                // It has its connection now, and keeps it.
                _ = try await stage.server.waitForRequests(1)
                #expect(try await way.end(session) == 0)
                #expect(try await upload.value == "taken")
            }
        }
    }

    @Test func `ending a session cancels and counts the others, and leaves out all it is within`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.route(.get, "/stuck", LoopbackServer.Reply([.stall]))
            stage.server.respond { _ in .response(body: "x") }
            let session = stage.session
            let other = Task { try await session.get("stuck", as: .bytes) }
            _ = try await stage.server.waitForRequests(1)
            try await session.withResponse(from: "outer") { outer in
                try await session.withResponse(from: "inner") { inner in
                    #expect(await session.shutdown() == 1)
                    for try await _ in inner.body {}
                }
                for try await _ in outer.body {}
            }
            let error = try await NetworkError.thrown { _ = try await other.value }
            #expect(error.code == .cancelled)
        }
    }

    /// Each would wait for the other.
    @Test func `two requests that wait until their session is empty do not wait for each other`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let session = stage.session
            let gates = [LoopbackServer.Gate(), LoopbackServer.Gate()]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0...1 {
                    group.addTask {
                        try await session.withResponse(from: "a") { _ in
                            gates[index].open()
                            try await gates[1 - index].opened()
                            try await session.tasks.waitUntilEmpty()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Where code of one session finds the next.
    private final class Ring: Sendable {
        let ready: LoopbackServer.Gate
        private let state = Mutex<(sessions: [HTTPSession], waiting: Int)>(([], 0))
        private let count: Int

        init(_ count: Int) {
            (self.count, ready) = (count, LoopbackServer.Gate())
        }

        var sessions: [HTTPSession] {
            get { state.withLock { $0.sessions } }
            set { state.withLock { $0.sessions = newValue } }
        }

        /// Ends the session after this one, when code of all is as far.
        func endNext(of index: Int, _ way: Way) async {
            let isLast = state.withLock { state in
                state.waiting += 1
                return state.waiting == count
            }
            if isLast { ready.open() }
            do {
                try await ready.opened()
                let sessions = sessions
                if !sessions.isEmpty { _ = try await way.end(sessions[(index + 1) % count]) }
            } catch {
                // Its request was cancelled before the others came so far.
            }
        }
    }

    enum Code: CaseIterable {
        case completed, metrics, scope, handler, refresh
    }

    /// Each request would wait for the next session's, and the last for the first. The first session is older than the
    /// others, the last younger.
    @Test(arguments: [2, 3], Way.allCases)
    func `code of several sessions that ends the next of them waits for no request that waits for it`(
        count: Int, way: Way
    ) async throws {
        for code in Code.allCases {
            let ring = Ring(count)
            try await Stage.with { (stage: Stage) async throws in
                stage.server.respond { request in
                    if request.target == "/token" || code != .handler && code != .refresh { return .response() }
                    let isAllowed = request.fields["Authorization"] != nil
                    return isAllowed
                        ? .response() : .response(.unauthorized, fields: ["WWW-Authenticate": "Basic realm=\"a\""])
                }
                ring.sessions = try (0..<count).map { index in
                    var configuration = try Stage.configuration(for: stage.server)
                    configuration.use(stage.loop)
                    let end: @Sendable () async -> Void = { await ring.endNext(of: index, way) }
                    switch code {
                    case .completed: configuration.hooks.completed = { _ in await end() }
                    case .metrics: configuration.hooks.metrics = { _, _ in await end() }
                    case .scope: break
                    case .handler:
                        configuration.authenticationHandler = { _ in
                            await end()
                            return .performDefault
                        }
                    case .refresh:
                        // Nothing cancels a hook that is told the end.
                        configuration.hooks.completed = { if $0.url.hasSuffix("/token") { await end() } }
                        configuration.authentication = .bearer(refreshTimeout: .seconds(1000)) { client in
                            _ = try await client.get("token", as: .bytes)
                            return .init("token")
                        }
                    }
                    return try HTTPSession(configuration)
                }
                await withTaskGroup { group in
                    for index in 0..<count {
                        group.addTask {
                            let session = ring.sessions[index]
                            if code == .scope {
                                _ = try? await session.withResponse(from: "a") { _ in
                                    await ring.endNext(of: index, way)
                                }
                            } else {
                                _ = try? await session.get("a", as: .bytes)
                            }
                        }
                    }
                }
                for session in ring.sessions { await session.shutdown() }
                ring.sessions = []
            }
        }
    }

    /// The refresh goes on in a task that nothing cancels, and the request that began it is over.
    @Test func `a refresh that ends another session waits for no hook that waits for the refresh`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let (began, hooked) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            let ring = Ring(2)
            var configuration = try Stage.configuration(for: stage.server)
            configuration.use(stage.loop)
            var other = configuration
            configuration.authentication = .bearer(refreshTimeout: .seconds(1000)) { _ in
                began.open()
                await Task {
                    do { try await hooked.opened() } catch { Issue.record(error) }
                    await ring.sessions[1].shutdown()
                }.value
                return .init("token")
            }
            other.hooks.completed = { _ in
                hooked.open()
                await ring.sessions[0].shutdown()
            }
            ring.sessions = [try HTTPSession(configuration), try HTTPSession(other)]
            let first = Task { try await ring.sessions[0].get("a", as: .bytes) }
            try await began.opened()
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            _ = try await ring.sessions[1].get("b", as: .bytes)
            for session in ring.sessions { await session.shutdown() }
            ring.sessions = []
        }
    }

    @Test func `the wait of a shutdown ends when the awaiting task is cancelled`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let asked = LoopbackServer.Gate()
            stage.server.respond { _ in LoopbackServer.Reply([.signal(asked), .stall]) }
            let session = stage.session
            let stuck = Task { try await session.get("stuck", as: .bytes) }
            try await asked.opened()
            let ending = Task { await session.shutdown(grace: .seconds(1000)) }
            try await stage.eventually("intake stops") { session.isShutDown }
            ending.cancel()
            #expect(await ending.value == 1)
            let error = try await NetworkError.thrown { _ = try await stuck.value }
            #expect(error.code == .cancelled)
        }
    }

    @Test func `a shutdown in the hook that is told of the end tells it no second time`() async throws {
        let ender = Ender()
        let configure: (inout HTTPSession.Configuration) -> Void = {
            $0.hooks.shutDown = {
                await ender.end(.shutdown)
            }
        }
        try await Stage.with(configure: configure) { (stage: Stage) async throws in
            ender.session.withLock { $0 = stage.session }
            await stage.session.shutdown()
            ender.session.withLock { $0 = nil }
        }
        #expect(ender.stopped.withLock { $0 } == [0])
    }
}
