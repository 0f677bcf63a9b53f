import Dunlin
import DunlinTesting
import Testing

/// Whatever number a setting has or a server says: a session that cannot work with it is not made, and a request ends.
@Suite(.timeLimit(.minutes(10)))
struct `Numbers of strangers` {
    typealias Configuration = HTTPSession.Configuration

    static let counts: [Int] = [.max, .min, 0, -1]
    static let times: [Duration] = [.seconds(Int64.max), .seconds(Int64.min), .zero, .seconds(-1), .nanoseconds(1)]

    struct Number: Sendable {
        var count: Int
        var time: Duration
    }

    struct Setting: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout Configuration, Number) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout Configuration, Number) -> Void) {
            testDescription = name
            self.set = set
        }
    }

    static let settings: [Setting] = [
        Setting("perOrigin") { settings, number in settings.connections.perOrigin = number.count },
        Setting("total") { settings, number in settings.connections.total = number.count },
        Setting("waiting") { settings, number in settings.connections.maximumWaiting = number.count },
        Setting("uses") { settings, number in settings.connections.maximumUses = number.count },
        Setting("age") { settings, number in settings.connections.maximumAge = number.time },
        Setting("idleTime") { settings, number in settings.connections.idleTime = number.time },
        Setting("running") { settings, number in settings.queue.running = number.count },
        Setting("perHost") { settings, number in settings.queue.runningPerOrigin = number.count },
        Setting("body") { settings, number in settings.limits.bodyBytes = number.count },
        Setting("decoded") { settings, number in settings.limits.decodedBytes = number.count },
        Setting("ratio") { settings, number in settings.limits.decodingRatio = number.count },
        Setting("head") { settings, number in settings.limits.headBytes = number.count },
        Setting("lineBytes") { settings, number in settings.limits.lineBytes = number.count },
        Setting("fields") { settings, number in settings.limits.fieldCount = number.count },
        Setting("interim") { settings, number in settings.limits.interimResponses = number.count },
        Setting("trailers") { settings, number in settings.limits.trailerBytes = number.count },
        Setting("names") { settings, number in settings.nameResolution.capacity = number.count },
        Setting("nameLife") { settings, number in settings.nameResolution.timeToLive = number.time },
        Setting("missing") { settings, number in settings.nameResolution.negativeTimeToLive = number.time },
        Setting("connectionAttemptDelay") { settings, number in
            settings.nameResolution.connectionAttemptDelay = number.time
        },
        Setting("redirects") { settings, number in settings.redirects.limit = number.count },
        Setting("userTimeout") { settings, number in settings.sockets.userTimeout = number.time },
        Setting("line") { settings, number in
            (settings.queue.running, settings.queue.maximumWaiting) = (1, number.count)
        },
        Setting("attempts") { settings, number in settings.retry = .exponential(attempts: number.count) },
        Setting("base") { settings, number in
            settings.retry = .exponential(attempts: 2, base: number.time, cap: .seconds(Int64.max))
        },
        Setting("cap") { settings, number in settings.retry = .constant(attempts: 2, every: number.time) },
        Setting("retryAfter") { settings, number in
            settings.retry = .exponential(attempts: 2, base: .zero)
            settings.retry.retryAfterLimit = number.time
        },
        Setting("floor") { settings, number in
            settings.retry = .exponential(attempts: 2, budget: .ratio(1, floor: number.count))
        },
        Setting("probes") { settings, number in
            settings.sockets.keepAlive = .init(idle: number.time, interval: number.time, count: number.count)
        },
        Setting("timeouts") { settings, number in
            for limit in Timeouts.Limit.allCases { settings.timeouts[limit] = number.time }
        },
        Setting("cookies") { settings, number in
            var limits = CookieJar.Limits()
            (limits.perDomain, limits.total, limits.perResponse) = (number.count, number.count, number.count)
            settings.cookies = CookieJar(limits: limits)
        },
    ]

    /// A body in chunks with trailers, coded, and with numbers of its own in the head.
    private static func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        let fields: Fields = [
            "Keep-Alive": "timeout=9223372036854775807, max=-9223372036854775808",
            "Set-Cookie": "a=1; Max-Age=9223372036854775807", "Retry-After": "9223372036854775807",
        ]
        server.route(.get, "/moved", .response(302, fields: ["Location": "/", "Set-Cookie": "b=1; Max-Age=-9"]))
        server.route(.get, "/busy", .response(503, fields: fields, body: "busy"))
        server.respond { _ in .response(fields: fields, body: "one\ntwo\n") }
        return server
    }

    /// Requests of several kinds; what each comes to is its own business.
    private static func ask(_ session: HTTPSession, _ options: HTTPSession.Options) async throws {
        for path in ["/", "/moved", "/busy"] as [HTTP.Target] {
            _ = try await networkError { _ = try await session.get(path, options: options, as: .bytes) }
        }
        _ = try await networkError {
            _ = try await session.post("/", body: .string("x"), options: options, as: .string)
        }
        _ = try await networkError {
            try await session.withResponse(from: "/", options: options) { response in
                for try await _ in response.lines(limit: .max) {}
            }
        }
        _ = try await networkError { _ = try await session.task("/", options: options, as: .bytes).value }
    }

    @Test(arguments: settings)
    func `an extreme number in a setting is refused, or requests with it end`(setting: Setting) async throws {
        let server = try Self.server()
        defer { server.stop() }
        for index in 0..<max(Self.counts.count, Self.times.count) {
            var configuration = Configuration(baseURL: server.baseURL)
            let count = Self.counts[min(index, Self.counts.count - 1)]
            setting.set(&configuration, Number(count: count, time: Self.times[min(index, Self.times.count - 1)]))
            let session: HTTPSession
            do {
                session = try HTTPSession(configuration)
            } catch let error as NetworkError {
                #expect(error.code == .invalidConfiguration)
                continue
            }
            try await Self.ask(session, HTTPSession.Options())
            await session.shutdown()
        }
    }

    /// `.max` is no limit, wherever a limit is a number.
    @Test func `the largest number there is limits nothing`() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let excepted = ["probes", "userTimeout", "floor"]
        for setting in Self.settings where !excepted.contains(setting.testDescription) {
            var configuration = Configuration(baseURL: server.baseURL)
            setting.set(&configuration, Number(count: .max, time: .seconds(Int64.max)))
            let session = try HTTPSession(configuration)
            #expect(try await session.get("/moved", as: .string).value == "one\ntwo\n", "\(setting.testDescription)")
            await session.shutdown(grace: .zero)
        }
    }

    @Test(arguments: counts, times)
    func `a request ends whatever extreme numbers its options have`(count: Int, time: Duration) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let session = try HTTPSession(.init(baseURL: server.baseURL))
        var options = HTTPSession.Options(bodyLimit: .bytes(count))
        options.expectsContinue = true
        options.continueTimeout = time
        try await Self.ask(session, options)
        options = HTTPSession.Options()
        options.timeouts = .init(firstByte: .value(time), readIdle: .value(time), total: .value(time))
        try await Self.ask(session, options)
        _ = try await networkError {
            try await session.withTimeout(time) { try await Self.ask(session, HTTPSession.Options()) }
        }
        await session.shutdown(grace: count > 0 ? .seconds(1) : .zero)
    }

    /// What a server may say where a number is expected.
    @Test(arguments: [
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-1", "0", "00", "+1", "1e9",
    ])
    func `a request ends whatever numbers its response's fields have`(number: String) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let fields: Fields = [
            "Keep-Alive": "timeout=\(number)", "Retry-After": number, "Age": number,
            "Set-Cookie": "a=1; Max-Age=\(number)", "Content-Range": "bytes 0-\(number)/\(number)",
            "Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT", "X-Count": number,
        ]
        server.respond { _ in .response(503, fields: fields, body: "busy") }
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.retry = .exponential(attempts: 2, base: .zero)
        configuration.retry.retryAfterLimit = .seconds(Int64.max)
        // Longer than a busy machine takes, and shorter than what is asked for.
        configuration.timeouts.total = .seconds(600)
        configuration.cookies = CookieJar()
        let session = try HTTPSession(configuration)
        let error = try await networkError { _ = try await session.get("/", as: .bytes) }
        #expect(error?.response?.status == 503)
        #expect(
            configuration.cookies?.cookies.count
                == (["0", "00", "-1", "-9223372036854775808"].contains(number) ? 0 : 1))
        await session.shutdown()
    }
}
