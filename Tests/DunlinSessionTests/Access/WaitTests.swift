import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Waits in a circle` {
    private enum Within {
        @TaskLocal static var isInner = false
    }

    enum Asking: CaseIterable, Sendable {
        /// A hook that is asked while the answer is received.
        case hook
        case interceptor
    }

    /// What `/0` runs asks for `/1`, that of `/1` for `/2`, and the last one's for `/0`.
    @Test(.timeLimit(.minutes(10)), arguments: Asking.allCases, [(2, 1), (2, 2), (3, 1), (3, 3), (4, 2)])
    func `requests that ask for each other are sent, and answered`(asking: Asking, size: (Int, Int))
        async throws
    {
        let ((count, sessionCount), transport) = (size, MockTransport())
        transport.otherwise { .respond(fields: ["Cache-Control": "no-cache"], body: Bytes($0.target.utf8)) }
        let started = Atomic(0)
        let all = Settlement<Void>()
        let known = Mutex<[HTTPSession]>([])
        let ask: @Sendable (String) async throws -> Void = { target in
            guard !Within.isInner, let index = Int(target.dropFirst()) else { return }
            if started.add(1, ordering: .relaxed).newValue == count { all.settle(()) }
            await all.value
            let next = (index + 1) % count
            let session = known.withLock { $0[next % $0.count] }
            let body = try await Within.$isInner.withValue(true) {
                try await session.get("/\(next)", as: .string).value
            }
            #expect(body == "/\(next)")
        }
        for _ in 0..<sessionCount {
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.coalescing.isOn = true
            switch asking {
            case .hook:
                configuration.cache = HTTPSession.Cache(MapStore(isAtHand: true))
                configuration.hooks.storing = { snapshot, _ in
                    do { try await ask(snapshot.targetTemplate) } catch { Issue.record(error) }
                    return nil
                }
            case .interceptor:
                configuration.interceptors = [
                    .exchange { request, next in
                        try await ask(request.head.target)
                        return try await next(request)
                    }
                ]
            }
            let session = try HTTPSession(configuration)
            known.withLock { $0.append(session) }
        }
        let sessions = known.withLock(\.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                let session = sessions[index % sessions.count]
                group.addTask {
                    let body = try await session.get("/\(index)", as: .string).value
                    #expect(body == "/\(index)")
                }
            }
            try await group.waitForAll()
        }
        for session in sessions { #expect(await session.gauges().coalesced == 0) }
    }

    /// The only turn of one session has a request that waits for one of the other, which waits for a turn.
    @Test(.timeLimit(.minutes(1))) func `who waits for a turn waits for no request that waits for it`() async throws {
        let transport = MockTransport()
        transport.otherwise { .respond(body: Bytes($0.target.utf8)) }
        let known = Mutex<[HTTPSession]>([])
        let started = Atomic(0)
        let all = Settlement<Void>()
        func session(_ index: Int, asking target: String, _ change: (inout HTTPSession.Configuration) -> Void) throws {
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.interceptors = [
                .exchange { request, next in
                    if !Within.isInner {
                        if started.add(1, ordering: .relaxed).newValue == 2 { all.settle(()) }
                        await all.value
                        _ = try await Within.$isInner.withValue(true) {
                            try await known.withLock { $0[1 - index] }.get(HTTP.Target(target), as: .bytes)
                        }
                    }
                    return try await next(request)
                }
            ]
            change(&configuration)
            let session = try HTTPSession(configuration)
            known.withLock { $0.append(session) }
        }
        try session(0, asking: "/other") { $0.coalescing.isOn = true }
        try session(1, asking: "/x") { $0.queue.running = 1 }
        let sessions = known.withLock(\.self)
        async let first = sessions[0].get("/x", as: .string).value
        async let second = sessions[1].get("/y", as: .string).value
        #expect(try await [first, second] == ["/x", "/y"])
    }

    /// With a field that looks secret, which every request has.
    @Test(.timeLimit(.minutes(10))) func `a refresh whose request waits for it is not kept waiting`() async throws {
        let transport = MockTransport()
        transport.otherwise { .respond(body: Bytes(($0.fields["authorization"] ?? "the token").utf8)) }
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.coalescing.isOn = true
        configuration.fields["X-Api-Key"] = "the app's"
        configuration.authentication = .bearer { session in
            HTTPSession.BearerToken(try await session.get("/a", as: .string).value)
        }
        let session = try HTTPSession(configuration)
        #expect(try await session.get("/a", as: .string).value == "Bearer the token")
        #expect(transport.requests.count == 2)
    }

    /// The handler waits for the other session's only turn, and what has it for an answer of the handler.
    @Test(.timeLimit(.minutes(1))) func `code of a later session does not wait for a handler that may wait for it`()
        async throws
    {
        let transport = MockTransport()
        transport.otherwise { request in
            if request.target.hasPrefix("/open") || request.fields.contains("authorization") {
                return .respond(body: Bytes(request.target.utf8))
            }
            return .respond(401, fields: ["WWW-Authenticate": "Digest realm=d, nonce=n, qop=auth, algorithm=SHA-256"])
        }
        let later = Mutex<HTTPSession?>(nil)
        let (isAsked, hasTurn) = (Settlement<Void>(), Settlement<Void>())
        let asked = Atomic(0)
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.authenticationHandler = { _ in
            if asked.add(1, ordering: .relaxed).newValue == 1 {
                isAsked.settle(())
                await hasTurn.value
                do { _ = try await later.withLock(\.self)?.get("/open/inner", as: .bytes) } catch {
                    Issue.record(error)
                }
            }
            return .useCredential(.password(user: "a", password: "b"))
        }
        let session = try HTTPSession(configuration)
        var other = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        other.queue.running = 1
        other.interceptors = [
            .exchange { request, next in
                if request.head.target == "/open/outer" {
                    hasTurn.settle(())
                    await isAsked.value
                    #expect(try await session.get("/second", as: .string).value == "/second")
                }
                return try await next(request)
            }
        ]
        let made = try HTTPSession(other)
        later.withLock { $0 = made }
        defer { later.withLock { $0 = nil } }
        async let first = session.get("/first", as: .string).value
        async let outer = made.get("/open/outer", as: .string).value
        #expect(try await [first, outer] == ["/first", "/open/outer"])
        #expect(asked.load(ordering: .relaxed) == 2)
    }

    /// What went without a token must not be kept as the user's.
    @Test(.timeLimit(.minutes(1)))
    func `code of a later session sends nothing without a token while the first is fetched`()
        async throws
    {
        let transport = MockTransport()
        transport.otherwise { .respond(body: Bytes(($0.fields["authorization"] ?? "nobody").utf8)) }
        let (begun, end) = (Settlement<Void>(), Settlement<Void>())
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.authentication = .bearer { _ in
            begun.settle(())
            await end.value
            return HTTPSession.BearerToken("t")
        }
        let session = try HTTPSession(configuration)
        var other = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        other.interceptors = [
            .exchange { request, next in
                let error = try await networkError { _ = try await session.get("/", as: .string) }
                #expect(error?.code == .authenticationFailed)
                return try await next(request)
            }
        ]
        let later = try HTTPSession(other)
        async let first = session.get("/", as: .string).value
        await begun.value
        #expect(try await later.get("/", as: .string).value == "nobody")
        end.settle(())
        #expect(try await first == "Bearer t")
    }
}
