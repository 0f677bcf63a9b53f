import Dunlin
import DunlinCurl
import DunlinSemantics
import DunlinTesting
import DunlinTransport
import Mocking
import Testing

@testable import DunlinSession

/// An option, whether the curl command of a request says it, and a value that is not the usual one.
private struct Row: Sendable {
    let property: String
    let isInCommand: Bool
    let change: @Sendable (inout HTTPSession.Options) -> Void

    init(
        _ property: String, inCommand: Bool = false, _ change: @escaping @Sendable (inout HTTPSession.Options) -> Void
    ) {
        (self.property, isInCommand, self.change) = (property, inCommand, change)
    }

    var options: HTTPSession.Options {
        var options = HTTPSession.Options()
        change(&options)
        return options
    }

    var option: RequestOption {
        get throws { try #require(RequestOption.all.first { $0.name == property }, "\(property)") }
    }

    static let all = [
        Row("fields", inCommand: true) { $0.fields["X-Api-Key"] = "1" },
        Row("bodyLimit") { $0.bodyLimit = 100 },
        Row("validatesResponse") { $0.validatesResponse = false },
        Row("decodesContent", inCommand: true) { $0.decodesContent = false },
        Row("priority") { $0.priority = .high },
        Row("expectsContinue") { $0.expectsContinue = true },
        Row("timeouts", inCommand: true) { $0.timeouts.total = .seconds(500) },
        Row("continueTimeout") { $0.continueTimeout = .seconds(5) },
        Row("redirects", inCommand: true) { $0.redirects = .none },
        Row("retry") { $0.retry = .constant(attempts: 2, every: .zero) },
        Row("credentials", inCommand: true) { $0.credentials = .bearer(token: "t") },
        Row("hooks") { $0.hooks.completed = { _ in } },
        Row("errorBodyLimit") { $0.errorBodyLimit = 7 },
        Row("label") { $0.label = "l" },
        Row("operation") { $0.operation = "o" },
        Row("tags") { $0.tags = ["t"] },
        Row("startsAfter") { $0.startsAfter = [HTTPSession.TaskID(rawValue: 0)] },
        Row("begun") { $0.begun = {} },
        Row("keepsProvenance") { $0.keepsProvenance = true },
        Row("oldestStored") { $0.oldestStored = 7 },
        Row("hostOverrides", inCommand: true) { $0.hostOverrides = ["a.test": .v4(0x7F00_0001, port: 1)] },
        Row("sockets", inCommand: true) {
            var sockets = HTTP.SocketOptions()
            sockets.interface = "lo"
            $0.sockets = .value(sockets)
        },
        Row("interfaces") { $0.interfaces = .deny(names: "lo") },
        Row("guard") { $0.guard = .publicInternet },
        Row("proxy", inCommand: true) { $0.proxy = .url("http://p.test") },
        Row("authenticationHandler") { $0.authenticationHandler = { _ in .performDefault } },
        Row("upgrade") { $0.upgrade = UpgradeOptions() },
        Row("coalesces") { $0.coalesces = false },
        Row("cacheMode") { $0.cacheMode = .reloading },
        Row("waitsForConnectivity") { $0.waitsForConnectivity = true },
        Row("handlesCookies") { $0.handlesCookies = .none },
    ]
}

@Suite(.timeLimit(.minutes(10))) struct `The options of a request, one by one` {
    @Test func `each option of a request is in the list, and has a row in this one`() {
        let parts: [Any] = [
            HTTPSession.Options(), HTTPSession.TimeLimits(.init(), continueTimeout: .zero), RareOptions.Values(),
        ]
        let properties = parts.flatMap { Mirror(reflecting: $0).children.compactMap(\.label) }
            .map { $0.hasPrefix("_") ? String($0.dropFirst()) : $0 }
        let options = properties.filter { $0 != "timeLimits" && $0 != "rare" }.sorted()
        #expect(RequestOption.all.map(\.name).sorted() == options)
        #expect(Row.all.map(\.property).sorted() == options)
    }

    @Test func `the list has each option under its name`() throws {
        for row in Row.all {
            let set = RequestOption.all.filter { $0.isSet(row.options) }
            #expect(set.map(\.name) == [row.property])
            #expect(try !row.option.isSame(row.options, HTTPSession.Options()), "\(row.property)")
        }
    }

    /// What is said of who asks by requests with these options, by http and by https.
    private static func askers(_ session: HTTPSession, _ options: HTTPSession.Options) throws -> [String] {
        try ["http://a.test/", "https://a.test/"].map { url in
            let inquiry = try session.inquiry(.get, HTTP.Target(url), options.fields, options: options, accept: nil)
            let asker = inquiry.asker
            return "\(inquiry.isShareable) \(inquiry.name) \(asker.user) \(asker.terms) \(inquiry.key)"
        }
    }

    @Test func `an option that changes who asks, the way or the terms says so in the list, and no other does`()
        async throws
    {
        let jar = CookieJar()
        try jar.set(HTTP.Cookie(name: "sid", value: "1", domain: "a.test"))
        var configuration = HTTPSession.Configuration()
        (configuration.cookies, configuration.environment) = (jar, [:])
        let session = try HTTPSession(configuration)
        let usual = try Self.askers(session, HTTPSession.Options())
        for row in Row.all {
            let saysSo = try Self.askers(session, row.options) != usual
            #expect(try saysSo == (row.option.meaning != .nothing), "\(row.property)")
        }
        await session.shutdown()
    }

    @Test func `a journal saves an option as the list says, and knows what must be given again`() throws {
        let usual = SavedOptions()
        for row in Row.all {
            let (option, saved) = (try row.option, SavedOptions(row.options))
            let lacking = SavedOptions.lacking(row.options)
            switch option.isSaved(row.options) {
            case true: #expect(option.isSame(saved.options, row.options) && lacking.isEmpty, "\(row.property)")
            case false: #expect(saved == usual && lacking == [row.property])
            case nil: #expect(saved == usual && lacking.isEmpty)
            }
            let text = try HTTP.JSON.standard.encode(saved)
            #expect(try HTTP.JSON.standard.decode(SavedOptions.self, from: text) == saved, "\(row.property)")
        }
        let none = HTTPSession.Options(credentials: .none)
        #expect(SavedOptions(none).options.credentials == .none && SavedOptions.lacking(none).isEmpty)
    }

    @Test func `the curl command says an option if this list does`() async throws {
        let mocked = try Mocked("https://a.test") {
            ($0.redirects, $0.fields["Accept-Encoding"]) = (.init(limit: 3), "gzip")
        }
        func command(_ options: HTTPSession.Options) throws -> String {
            let call = try mocked.session.core.call(.get, "/a", options: options, isObserved: false)
            return RequestRecord(call.source, call.reading.errors.curl).curl(showingSecrets: true)
        }
        let usual = try command(HTTPSession.Options())
        for row in Row.all { #expect(try (command(row.options) != usual) == row.isInCommand, "\(row.property)") }
        await mocked.session.shutdown()
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
            operation: all.operation, tags: all.tags, priority: all.priority, retry: all.retry,
            redirects: all.redirects, credentials: all.credentials,
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
        let sharing = try row.option.sharing
        #expect(try await Self.areOne([HTTPSession.Options(), row.options]) == (sharing == .always))
        #expect(try await Self.areOne([row.options, row.options]) == (sharing != .never))
    }
}
