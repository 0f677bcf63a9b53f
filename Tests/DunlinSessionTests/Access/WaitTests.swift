import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

@Suite struct `Waits in a circle` {
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
}
