import Dunlin
import DunlinTesting
import Foundation

/// Sessions with features at random, that several users ask for pages that are each user's own. A model says who may
/// see what and what may have been asked.
struct PromiseStorm: Sendable {
    private static let concurrency = 24
    /// So many requests are made of the sessions of one world.
    private static let lifetime = 240
    /// Servers last for so many worlds, for they remember what was wrong.
    private static let worlds = 20

    let count: Int
    let tally: Tally
    let watchdog: Watchdog

    func run() async throws {
        let loop = try PrivateLoop()
        var servers = try PromiseServers()
        for number in 0..<((count + Self.lifetime - 1) / Self.lifetime) {
            if number % Self.worlds == Self.worlds - 1 {
                end(servers)
                servers = try PromiseServers()
            }
            let numbers = (number * Self.lifetime)..<min((number + 1) * Self.lifetime, count)
            try await live(PromiseWorld(number, seed: tally.seed), numbers, on: loop, servers)
        }
        end(servers)
        do { try await loop.verifyNothingLeft(within: .seconds(60)) } catch { tally.violation("\(error)") }
    }

    private func end(_ servers: PromiseServers) {
        servers.stop()
        for failure in servers.failures { tally.violation("the server complains: \(failure)") }
    }

    private func live(
        _ world: PromiseWorld, _ numbers: Range<Int>, on loop: PrivateLoop, _ servers: PromiseServers
    ) async throws {
        let folder = NSTemporaryDirectory() + "dunlin-promises-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let outcomes: [PromiseOutcome]
        let kept: [Kept]
        do {
            let sessions = try Self.sessions(of: world, on: loop, servers, folder)
            kept = sessions.map { Kept(session: $0) }
            sessions.forEach(watchdog.watch)
            outcomes = try await rage(sessions, world, numbers, servers, folder)
            for session in sessions {
                let left = await Self.left(in: session)
                if !left.isEmpty { tally.violation("still in the registry: \(left)") }
                await session.shutdown(grace: .seconds(5))
                if session.connections.open != 0 { tally.violation("in the pool: \(session.connections)") }
            }
        }
        try await Self.remove(folder)
        judge(outcomes, world, servers)
        await expectReleased(kept, world)
    }

    /// What was cancelled may still be writing into it.
    private static func remove(_ folder: String) async throws {
        for _ in 0..<200 {
            do {
                return try FileManager.default.removeItem(atPath: folder)
            } catch {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    /// What does not end. What a session asks for itself may still be on its way when all others have ended.
    static func left(in session: HTTPSession) async -> [HTTPSession.TaskSnapshot] {
        let start = ContinuousClock.now
        while true {
            let left = await session.tasks.all
            if left.isEmpty || ContinuousClock.now - start > .seconds(60) { return left }
            do { try await Task.sleep(for: .milliseconds(5)) } catch { return left }
        }
    }

    private struct Kept: Sendable {
        weak let session: HTTPSession?
    }

    /// Nobody keeps a session that was shut down, but for what is just ending.
    private func expectReleased(_ kept: [Kept], _ world: PromiseWorld) async {
        let start = ContinuousClock.now
        while kept.contains(where: { $0.session != nil }), ContinuousClock.now - start < .seconds(60) {
            do { try await Task.sleep(for: .milliseconds(1)) } catch { return }
        }
        for (index, kept) in kept.enumerated() where kept.session != nil {
            tally.violation("world \(world.number): session \(index) is kept by somebody [\(world)]")
        }
    }

    private func rage(
        _ sessions: [HTTPSession], _ world: PromiseWorld, _ numbers: Range<Int>, _ servers: PromiseServers,
        _ folder: String
    ) async throws -> [PromiseOutcome] {
        try await withThrowingTaskGroup(of: PromiseOutcome.self) { group in
            var outcomes: [PromiseOutcome] = []
            for (index, number) in numbers.enumerated() {
                if index >= Self.concurrency, let outcome = try await group.next() { outcomes.append(outcome) }
                let call = PromiseCall(number, seed: tally.seed, in: world)
                let session = sessions[number % sessions.count]
                group.addTask {
                    let run = PromiseRun(call: call, session: session, servers: servers, folder: folder)
                    let outcome = await run.go()
                    tally.count(outcome.word)
                    return outcome
                }
            }
            for try await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
    }

    private func judge(_ outcomes: [PromiseOutcome], _ world: PromiseWorld, _ servers: PromiseServers) {
        let model = PromiseModel(world: world)
        let targets = servers.takeTargets()
        for complaint in servers.takeComplaints() { tally.violation("world \(world.number): \(complaint) [\(world)]") }
        for outcome in outcomes {
            let call = outcome.call, asked = targets[call.target] ?? 0
            var complaints = model.complaints(outcome)
            // A server can tell a repetition by its key.
            let hasKey = call.constantField == "Idempotency-Key"
            if call.page == .single, !hasKey, asked > 1 { complaints.append("sent \(asked) times") }
            if model.mayNotBeAsked(call), asked > 0 { complaints.append("a server was asked") }
            guard !complaints.isEmpty else { continue }
            // Whoever else was given the same answer.
            let others = outcomes.filter { other in
                other.call.number != call.number && other.serials.contains(where: outcome.serials.contains)
            }
            let other = others.min { $0.call.number < $1.call.number }
            tally.violation(
                "request \(call): \(complaints.joined(separator: "; "))"
                    + (other.map { "; the same answer was given to request \($0.call)" } ?? "") + " [\(world)]")
        }
    }
}

extension PromiseOutcome {
    /// In a word.
    fileprivate var word: String {
        switch end {
        case .response(let status, _, _, _, _): "\(status.code)"
        case .failure(let code, _): "\(code)"
        case .cancelledTask: "CancellationError"
        case .other: "other"
        }
    }
}

// MARK: - Sessions

extension PromiseStorm {
    private static func sessions(
        of world: PromiseWorld, on loop: PrivateLoop, _ servers: PromiseServers, _ folder: String
    ) throws -> [HTTPSession] {
        let shared = world.store == .sharedMemory ? HTTPSession.Cache() : nil
        // What one session stores is another's only if both are led alike.
        let (resolver, mock) = (PromiseResolver(), world.isMocked ? servers.mock() : nil)
        return try world.settings.enumerated().map { index, settings in
            var configuration = HTTPSession.Configuration(
                baseURL: "http://\(Site.home.host):\(servers.port(of: .home))")
            configuration.resolver = resolver
            configuration.basicInClearText = .allowed
            configuration.timeouts = Timeouts(
                pool: .seconds(20), connect: .seconds(20), send: .seconds(20), firstByte: .seconds(20),
                readIdle: .seconds(20), total: .seconds(25))
            if let mock { configuration.transport = mock }
            configuration.proxy = world.isProxied ? .url(servers.proxyURL) : .none
            switch world.store {
            case .none: break
            case .memory: configuration.cache = HTTPSession.Cache()
            case .folder: configuration.cache = HTTPSession.Cache(folder: "\(folder)/cache-\(index)")
            case .sharedMemory: configuration.cache = shared
            case .sharedFolder: configuration.cache = HTTPSession.Cache(folder: "\(folder)/cache")
            }
            try settings.put(on: &configuration, servers)
            configuration.use(loop)
            return try HTTPSession(configuration)
        }
    }
}

extension PromiseSettings {
    fileprivate func put(on configuration: inout HTTPSession.Configuration, _ servers: PromiseServers) throws {
        let secret = Secret.text(of: owner, at: .home)
        switch login {
        case .none, .jar: break
        case .basic: configuration.credentials = .basic(user: owner.rawValue, password: secret)
        case .bearer: configuration.authentication = .bearer { _ in .init(secret) }
        case .password:
            configuration.credentials = .password(user: owner.rawValue, password: secret)
            configuration.basicInClearText = .allowed
        case .handler: configuration.authenticationHandler = PromiseServers.handler(of: owner)
        case .originFields: configuration.originFields["X-Session-Token"] = secret
        case .interceptor:
            configuration.interceptors.append(
                .exchange { request, next in
                    let isOwn = request.head.fields.contains("Authorization")
                    let isHome = request.head.origin.host == Site.home.host
                    return try await next(request) { changed in
                        if !isOwn, isHome { changed.head.fields["X-Session-Token"] = secret }
                    }
                })
        }
        if let guardKind { configuration.guard = servers.rules(guardKind) }
        configuration.coalescing.isOn = coalesces
        if hasCookies || login == .jar { configuration.cookies = CookieJar() }
        if login == .jar {
            try configuration.cookies?.set(HTTP.Cookie(name: "who", value: secret, domain: Site.home.host))
        }
        if isRetried {
            configuration.retry = .exponential(
                attempts: 3, base: .milliseconds(1), cap: .milliseconds(5), budget: .unlimited)
        }
        if hasConstantField { configuration.fields["X-Api-Key"] = "constant" }
        configuration.queue.running = running
        switch observer {
        case .none: break
        case .call: configuration.interceptors.append(.call { try await $1($0) })
        case .exchange: configuration.interceptors.append(.exchange { try await $1($0) })
        case .transport: configuration.interceptors.append(.transport { $0 })
        }
    }
}

/// All is on this machine; what is inner has another address than the rest.
private final class PromiseResolver: Resolver {
    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
        [HTTP.SocketAddress(ip: host == Site.inner.host ? "::1" : "127.0.0.1", port: port)].compactMap { $0 }
    }
}
