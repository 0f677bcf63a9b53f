import Dunlin
import DunlinImages
import DunlinTesting
import Synchronization

/// Requests within requests, up to twenty deep, in every kind of code: three sessions, two of which share a turn, each
/// with one connection per origin and one place for pictures, and no limit of time that would end a wait in a circle.
///
/// A target says what is asked within it: pairs of a session and a kind of code, the outermost first.
final class NestedStorm: Sendable {
    private static let concurrency = 24
    private static let depth = 20
    private static let sessions = 3
    /// A scope, a call interceptor, an exchange interceptor, a hook, an authentication handler, a filter of pictures.
    private static let kinds = Array("siehcp")
    /// Of a thousand requests.
    private static let mostRefused = 1
    /// A GIF of one pixel.
    private static let picture = Bytes([
        0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x2C, 0, 0, 0, 0, 1, 0,
        1,
        0, 0, 2, 2, 0x44, 1, 0, 0x3B,
    ])
    private static let challenge = "WWW-Authenticate"

    private let count: Int
    private let tally: Tally
    private let watchdog: Watchdog
    private let asked = Atomic(0)
    private let refused = Atomic(0)
    private let sharedTurn = HTTPSession.QueueLimits(running: 1).shared()
    private let sites = Mutex<[(session: HTTPSession, downloader: ImageDownloader)]>([])

    init(count: Int, tally: Tally, watchdog: Watchdog) {
        (self.count, self.tally, self.watchdog) = (count, tally, watchdog)
    }

    func run() async throws {
        // The runtime opens a timer for the first sleep, which stays.
        try await Task.sleep(for: .milliseconds(1))
        let loop = try PrivateLoop()
        var settings = LoopbackServer.Configuration()
        settings.recordsRequests = false
        let server = try LoopbackServer(configuration: settings)
        server.respond { Self.answer($0) }
        do {
            for index in 0..<Self.sessions {
                let session = try HTTPSession(configuration(index, on: loop, server))
                var pictures = ImageDownloader.Configuration()
                pictures.maximumActive = 1
                sites.withLock {
                    $0.append((session, ImageDownloader(session: session, cache: nil, configuration: pictures)))
                }
                watchdog.watch(session)
            }
            try await rage()
        }
        let all = sites.withLock(\.self)
        for (session, downloader) in all {
            await downloader.shutdown()
            let left = await PromiseStorm.left(in: session)
            if !left.isEmpty { tally.violation("still in the registry: \(left)") }
            await session.shutdown()
            if session.connections.open != 0 { tally.violation("in the pool: \(session.connections)") }
        }
        sites.withLock { $0 = [] }
        server.stop()
        let (asked, refused) = (asked.load(ordering: .relaxed), refused.load(ordering: .relaxed))
        if refused * 1000 > asked * Self.mostRefused { tally.violation("\(refused) of \(asked) were refused") }
    }

    private static func answer(_ request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        let plan = Plan(request.target)
        if plan.kind == "p" { return .response(fields: ["Content-Type": "image/gif"], body: picture) }
        if plan.kind == "c", !request.fields.contains("Authorization") {
            return .response(401, fields: [challenge: "Basic realm=\"\(plan.rest)\""], body: "who?")
        }
        return .response(body: "in")
    }

    private func configuration(
        _ index: Int, on loop: PrivateLoop, _ server: LoopbackServer
    ) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.connections.perOrigin = 1
        // Two have a turn together, and the others one each.
        configuration.queue = index < 2 ? sharedTurn : .init(running: 1)
        (configuration.timeouts.queue, configuration.timeouts.pool, configuration.timeouts.total) = (nil, nil, nil)
        (configuration.timeouts.firstByte, configuration.timeouts.readIdle) = (nil, nil)
        configuration.coalescing.isOn = true
        configuration.hooks.response = { [weak self] snapshot, _ in
            await self?.within(snapshot.targetTemplate, "h")
            return nil
        }
        configuration.interceptors = [
            .call { [weak self] request, next in
                await self?.within(request.head.target, "i")
                return try await next(request)
            },
            .exchange { [weak self] request, next in
                let response = try await next(request)
                await self?.within(request.head.target, "e")
                return response
            },
        ]
        if index == 1 {
            // A token for each few requests: whoever asks for it asks for others, too.
            configuration.authentication = .bearer { [weak self] client in
                await self?.ask(Plan("0s2s\(index)s"))
                return .init(try await client.get("token", as: .string).value, lifetime: .milliseconds(20))
            }
        } else {
            configuration.authenticationHandler = { [weak self] challenge in
                guard case .protectionSpace(let space) = challenge.kind else { return .performDefault }
                await self?.ask(Plan(space.realm))
                return .useCredential(.password(user: "a", password: "b"))
            }
        }
        configuration.use(loop)
        return configuration
    }

    private func rage() async throws {
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.concurrency {
                group.addTask { [self] in
                    var dice = SeededGenerator(seed: tally.seed &+ UInt64(lane))
                    while asked.load(ordering: .relaxed) < count { await ask(Plan.random(Self.depth, &dice)) }
                }
            }
        }
    }

    /// Asks for the rest of a target within code of this kind.
    private func within(_ target: String, _ kind: Character) async {
        let plan = Plan(target)
        if plan.kind == kind { await ask(Plan(plan.rest)) }
    }

    private func ask(_ plan: Plan) async {
        guard let kind = plan.kind, asked.load(ordering: .relaxed) < 2 * count else { return }
        let site = sites.withLock { plan.session < $0.count ? $0[plan.session] : nil }
        guard let (session, downloader) = site else { return }
        asked.add(1, ordering: .relaxed)
        do {
            switch kind {
            case "s":
                try await session.withResponse(from: HTTP.Target(plan.target)) { response in
                    await ask(Plan(plan.rest))
                    for try await _ in response.body {}
                }
            case "p":
                let filter = ImageFilter(plan.text) { [self] picture in
                    await ask(Plan(plan.rest))
                    return picture
                }
                _ = try await downloader.image(HTTP.Target(plan.target), filters: [filter])
            default: _ = try await session.get(HTTP.Target(plan.target), as: .bytes).value
            }
            tally.count("in")
        } catch let error as NetworkError {
            if error.code == .poolExhausted { refused.add(1, ordering: .relaxed) }
            // A handler is not asked about what it asks for itself, and not every request may wait for a token.
            let isExpected =
                [.poolExhausted, .authenticationFailed].contains(error.code) || error.response?.status == .unauthorized
            tally.count("\(error.code)")
            if !isExpected { tally.violation("\(plan.text): \(error)") }
        } catch {
            tally.violation("\(plan.text): \(error)")
        }
    }

    /// Pairs of a session and a kind of code: `0s1p` is a scope of the first session in which the second is asked for a
    /// picture.
    private struct Plan {
        let text: String

        init(_ target: String) {
            text = target.hasPrefix("/") ? String(target.dropFirst()) : target
        }

        var target: String { "/" + text }
        var session: Int { text.first?.wholeNumberValue ?? .max }
        var kind: Character? { text.dropFirst().first.flatMap { NestedStorm.kinds.contains($0) ? $0 : nil } }
        var rest: String { String(text.dropFirst(2)) }

        static func random(_ depth: Int, _ dice: inout SeededGenerator) -> Plan {
            let pairs = (0...dice.next(below: depth)).map { _ in
                let kind = NestedStorm.kinds[dice.next(below: NestedStorm.kinds.count)]
                return "\(dice.next(below: NestedStorm.sessions))\(kind)"
            }
            return Plan(pairs.joined())
        }
    }
}
