import Dunlin
import DunlinTesting
import DunlinTransport
import Mocking
import Testing

@testable import DunlinSession

/// An option, and whether requests that say it are sent as one with others.
private struct Row: Sendable {
    enum Sharing: Sendable {
        /// Whatever others say: it matters to the caller alone.
        case always
        /// With those that say the same.
        case alike
        case never
    }

    let property: String
    let sharing: Sharing
    let change: @Sendable (inout HTTPSession.Options) -> Void

    init(_ property: String, _ sharing: Sharing, _ change: @escaping @Sendable (inout HTTPSession.Options) -> Void) {
        (self.property, self.sharing, self.change) = (property, sharing, change)
    }

    var options: HTTPSession.Options {
        var options = HTTPSession.Options()
        change(&options)
        return options
    }

    static let all = [
        Row("fields", .alike) { $0.fields["X-A"] = "1" },
        Row("bodyLimit", .always) { $0.bodyLimit = 100 },
        Row("validatesResponse", .always) { $0.validatesResponse = false },
        Row("decodesContent", .alike) { $0.decodesContent = false },
        Row("priority", .always) { $0.priority = .high },
        Row("expectsContinue", .always) { $0.expectsContinue = true },
        Row("timeouts", .alike) { $0.timeouts.total = .seconds(500) },
        Row("continueTimeout", .always) { $0.continueTimeout = .seconds(5) },
        Row("redirects", .always) { $0.redirects = .none },
        Row("retry", .always) { $0.retry = .constant(attempts: 2, every: .zero) },
        Row("credentials", .alike) { $0.credentials = .bearer(token: "t") },
        Row("hooks", .always) { $0.hooks.completed = { _ in } },
        Row("errorBodyLimit", .always) { $0.errorBodyLimit = 7 },
        Row("label", .always) { $0.label = "l" },
        Row("tags", .always) { $0.tags = ["t"] },
        Row("startsAfter", .always) { $0.startsAfter = [HTTPSession.TaskID(rawValue: 0)] },
        Row("begun", .always) { $0.begun = {} },
        Row("keepsProvenance", .always) { $0.keepsProvenance = true },
        Row("oldestStored", .always) { $0.oldestStored = 7 },
        Row("hostOverrides", .never) { $0.hostOverrides = ["a.test": .v4(0x7F00_0001, port: 1)] },
        Row("sockets", .never) { $0.sockets = .value(HTTP.SocketOptions()) },
        Row("interfaces", .never) { $0.interfaces = .value(.any) },
        Row("guard", .never) { $0.guard = .publicInternet },
        Row("proxy", .never) { $0.proxy = .none },
        Row("authenticationHandler", .never) { $0.authenticationHandler = { _ in .performDefault } },
        Row("upgrade", .never) { $0.upgrade = UpgradeOptions() },
        Row("coalesces", .never) { $0.coalesces = false },
        Row("cacheMode", .alike) { $0.cacheMode = .reloading },
        Row("waitsForConnectivity", .alike) { $0.waitsForConnectivity = true },
        Row("handlesCookies", .alike) { $0.handlesCookies = false },
    ]
}

@Suite(.timeLimit(.minutes(10))) struct `The options of a request, one by one` {
    @Test func `each option of a request has a row in this list`() {
        let values = RareOptions.Values()
        let parts: [Any] = [
            HTTPSession.Options(), HTTPSession.TimeLimits(.init(), continueTimeout: .zero), values, values.connecting,
            values.common,
        ]
        let properties = parts.flatMap { Mirror(reflecting: $0).children.compactMap(\.label) }
            .map { $0.hasPrefix("_") ? String($0.dropFirst()) : $0 }
        let holders: Set = ["timeLimits", "rare", "connecting", "common"]
        #expect(properties.filter { !holders.contains($0) }.sorted() == Row.all.map(\.property).sorted())
    }

    /// The options that say who asks or which way a request goes; the others do not. A new one belongs to one of these.
    private static let ofAccess: [String: AccessSource] = [
        "credentials": .credentials, "authenticationHandler": .authenticationHandler, "proxy": .proxy,
        "hostOverrides": .hostOverrides, "sockets": .sockets, "interfaces": .interfaces,
    ]
    private static let ofNothing: Set = [
        "begun", "bodyLimit", "coalesces", "cacheMode", "continueTimeout", "decodesContent", "errorBodyLimit",
        "expectsContinue", "fields", "guard", "handlesCookies", "hooks", "keepsProvenance", "label", "oldestStored",
        "priority", "redirects", "retry", "startsAfter", "tags", "timeouts", "upgrade", "validatesResponse",
        "waitsForConnectivity",
    ]

    @Test func `each option is known to say who asks, or not to`() {
        for row in Row.all {
            let sources = AccessSource.own(row.options)
            #expect(sources == Set([Self.ofAccess[row.property]].compactMap(\.self)), "\(row.property)")
            #expect((Self.ofAccess[row.property] == nil) == Self.ofNothing.contains(row.property), "\(row.property)")
        }
    }

    @Test func `rare options that are set are carried, each of them`() {
        for row in Row.all.drop(while: { $0.property != "redirects" }) {
            #expect(row.options.rare != nil, "\(row.property)")
        }
    }

    @Test func `the initialiser takes each option to its place`() {
        var all = HTTPSession.Options()
        let ofPackage = ["begun", "keepsProvenance", "oldestStored", "upgrade"]
        for row in Row.all where !ofPackage.contains(row.property) { row.change(&all) }
        let made = HTTPSession.Options(
            fields: all.fields, timeouts: all.timeouts, bodyLimit: all.bodyLimit,
            validatesResponse: all.validatesResponse, decodesContent: all.decodesContent, label: all.label,
            tags: all.tags,
            priority: all.priority, retry: all.retry, redirects: all.redirects, credentials: all.credentials,
            handlesCookies: all.handlesCookies, expectsContinue: all.expectsContinue,
            continueTimeout: all.continueTimeout, errorBodyLimit: all.errorBodyLimit, cacheMode: all.cacheMode,
            coalesces: all.coalesces, waitsForConnectivity: all.waitsForConnectivity, hostOverrides: all.hostOverrides,
            sockets: all.sockets, interfaces: all.interfaces, proxy: all.proxy, guard: all.guard,
            authenticationHandler: all.authenticationHandler, hooks: all.hooks, startsAfter: all.startsAfter)
        #expect(made.rare?.values == all.rare?.values)
        #expect(Self.areEqual(made, all))
    }

    private static func areEqual(_ one: HTTPSession.Options, _ other: HTTPSession.Options) -> Bool {
        let none = RareOptions.Values()
        return (one.rare?.values ?? none) == (other.rare?.values ?? none)
            && one.fields == other.fields && one.bodyLimit == other.bodyLimit
            && one.validatesResponse == other.validatesResponse && one.decodesContent == other.decodesContent
            && one.priority == other.priority && one.expectsContinue == other.expectsContinue
            && one.timeouts == other.timeouts && one.continueTimeout == other.continueTimeout
    }

    @Test func `options laid over others set what they say, and leave alone what they do not`() {
        var all = HTTPSession.Options()
        for row in Row.all { row.change(&all) }
        let usual = HTTPSession.Options()
        #expect(Self.areEqual(usual.laid(over: all), all) && Self.areEqual(all.laid(over: usual), all))
        for row in Row.all {
            #expect(!Self.areEqual(row.options, usual), "\(row.property)")
            #expect(Self.areEqual(row.options.laid(over: usual), row.options), "\(row.property)")
            #expect(Self.areEqual(usual.laid(over: row.options), row.options), "\(row.property)")
        }
    }

    /// Whether two requests that are under way at the same time are sent as one.
    private static func areOne(_ options: [HTTPSession.Options]) async throws -> Bool {
        let gate = LoopbackServer.Gate()
        let mocked = try Mocked("https://a.test") { $0.coalescing.isOn = true }
        mocked.transport.otherwise { _ in
            try await gate.opened()
            return .respond(body: "x")
        }
        var tasks: [Task<String, any Error>] = []
        for options in options {
            tasks.append(Task { try await mocked.session.get("/a", options: options, as: .string).value })
            try await eventually("it is sent, or waits for the other", following: mocked.transport) {
                let waiting = await mocked.session.gauges().coalesced
                return mocked.transport.requests.count + waiting == tasks.count
            }
        }
        gate.open()
        for task in tasks { #expect(try await task.value == "x") }
        await mocked.session.shutdown()
        return mocked.transport.requests.count == 1
    }

    @Test(arguments: Row.all.indices)
    func `requests are sent as one unless an option says where they go or what they bring`(index: Int) async throws {
        let row = Row.all[index]
        #expect(try await Self.areOne([HTTPSession.Options(), row.options]) == (row.sharing == .always))
        #expect(try await Self.areOne([row.options, row.options]) == (row.sharing != .never))
    }
}
