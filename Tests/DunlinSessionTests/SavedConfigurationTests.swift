import Dunlin
import DunlinTesting
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinSession

@Suite struct `A configuration that is kept` {
    private typealias Saved = HTTPSession.SavedConfiguration

    private static func text(_ configuration: HTTPSession.Configuration) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(Saved(configuration)), as: UTF8.self)
    }

    private static func configuration(_ text: String) throws -> HTTPSession.Configuration {
        try JSONDecoder().decode(Saved.self, from: Data(text.utf8)).configuration
    }

    /// Everything that is kept, at another value than the default.
    private static func unusual() -> HTTPSession.Configuration {
        var unusual = HTTPSession.Configuration(baseURL: "https://api.test/v1/")
        unusual.socketPath = "/run/api.sock"
        unusual.fields = ["User-Agent": "x: y", "X-Twice": "1", "Accept": ""]
        unusual.fields.append(name: "X-Twice", value: "2")
        for (index, limit) in Timeouts.Limit.allCases.enumerated() {
            unusual.timeouts[limit] = .milliseconds(1500 + index)
        }
        unusual.timeouts.total = nil
        unusual.requestSerializer = .json
        unusual.connections.perOrigin = 3
        unusual.connections.total = 4
        unusual.connections.maximumWaiting = 5
        unusual.connections.idleTime = .nanoseconds(1_000_000_001)
        unusual.connections.maximumAge = .seconds(9)
        unusual.connections.maximumUses = 6
        unusual.queue = .init(running: 7, runningPerOrigin: 8, maximumWaiting: 9)
        unusual.nameResolution.timeToLive = nil
        unusual.nameResolution.negativeTimeToLive = .seconds(1)
        unusual.nameResolution.capacity = 10
        unusual.nameResolution.order = .asGiven
        unusual.nameResolution.connectionAttemptDelay = .milliseconds(11)
        unusual.sockets.interface = "eth7"
        unusual.sockets.noDelay = false
        unusual.sockets.userTimeout = .seconds(12)
        unusual.sockets.differentiatedServices = 13
        unusual.sockets.priority = 3
        unusual.sockets.keepAlive = .init()
        unusual.sockets.keepAlive?.idle = .seconds(14)
        unusual.sockets.keepAlive?.interval = .seconds(15)
        unusual.sockets.keepAlive?.count = 16
        unusual.interfaces = .allow(names: "eth0", "eth1", kinds: .wired)
        (unusual.interfaces.deniedNames, unusual.interfaces.deniedKinds) = (["wwan0"], [.wwan, .wifi])
        var rules = HTTPSession.Guard.nothing
        (rules.schemes, rules.ports) = ([.https], [443, 8443])
        (rules.allowedAddresses, rules.deniedAddresses) = (["10.0.0.0/8"], ["fd00::/8"])
        (rules.allowedHosts, rules.deniedHosts) = (["*.example.com"], ["a.example.com"])
        (rules.allowsUnixSockets, unusual.guard) = (true, rules)
        unusual.proxy = .url("socks5h://proxy.test:1080", except: ".corp.test")
        (unusual.waitsForConnectivity, unusual.emitsReachabilityEvents) = (true, true)
        unusual.basicInClearText = .refused
        unusual.showsRefusedBodies = false
        unusual.limits.bodyBytes = nil
        unusual.limits.decodedBytes = 17
        unusual.limits.decodingRatio = nil
        (unusual.limits.headBytes, unusual.limits.lineBytes, unusual.limits.fieldCount) = (18, 19, 20)
        (unusual.limits.interimResponses, unusual.limits.trailerBytes) = (21, 22)
        (unusual.limits.errorBodyBytes, unusual.limits.resends) = (30, 31)
        unusual.secretFields = ["X-Tenant"]
        unusual.redirects = .init(limit: 23, secretFields: ["X-Mine"])
        unusual.redirects.follows = false
        unusual.redirects.allowsHTTPSToHTTP = true
        unusual.retry = .exponential(
            attempts: 24, base: .seconds(25), cap: .seconds(26), when: [.timeout, .status(503), .connectionFailure],
            budget: .ratio(0.27, floor: 28))
        (unusual.retry.jitter, unusual.retry.retriesNonIdempotent) = (.none, true)
        unusual.retry.retryAfterLimit = .seconds(29)
        unusual.tls.policy.validatesDomainName = false
        unusual.tls.policy.certificateRules = .compatible
        unusual.tls.roots = .systemAnd([.file("/ca.pem"), .bytes("der")])
        unusual.tls.versions = .tls13 ... .tls13
        (unusual.tls.ciphers, unusual.tls.suites, unusual.tls.groups) = ("A", "B", "C")
        unusual.tls.resumesSessions = false
        unusual.tls.revocation.lists = [.file("/crl.pem")]
        unusual.tls.revocation.coversAuthorities = true
        unusual.tls.revocation.allowsMissingLists = true
        unusual.tls.revocation.stapling = .required
        unusual.proxyTLS = unusual.tls
        unusual.cacheMode = .validating
        unusual.coalescing = .init(isOn: true, largestBody: 77)
        return unusual
    }

    @Test(.rows("HS-19", "CO-1", "CO-2", "AP-5")) func `a saved configuration comes back the same`() throws {
        for original in [HTTPSession.Configuration(), Self.unusual()] {
            let text = try Self.text(original)
            let back = try Self.configuration(text)
            #expect(try Self.text(back) == text)
            #expect(back.baseURL == original.baseURL && back.socketPath == original.socketPath)
            #expect(back.fields == original.fields && back.timeouts == original.timeouts)
            #expect(back.connections == original.connections && back.queue == original.queue)
            #expect(back.nameResolution == original.nameResolution && back.sockets == original.sockets)
            #expect(back.interfaces == original.interfaces && back.guard == original.guard)
            #expect(back.waitsForConnectivity == original.waitsForConnectivity)
            #expect(back.basicInClearText == original.basicInClearText)
            #expect(back.showsRefusedBodies == original.showsRefusedBodies)
            #expect(back.limits == original.limits && back.redirects == original.redirects)
            #expect(back.tls == original.tls && back.proxyTLS == original.proxyTLS)
            #expect(back.coalescing == original.coalescing)
            #expect(back.cacheMode == original.cacheMode)
        }
    }

    @Test(arguments: SecurityPolicy.CertificateRules.allCases)
    func `the rules for certificates are kept, for origins and for proxies`(
        rules: SecurityPolicy.CertificateRules
    ) throws {
        var (origins, proxies) = (HTTPSession.Configuration(), HTTPSession.Configuration())
        origins.tls.policy.certificateRules = rules
        proxies.proxyTLS.policy.certificateRules = rules
        let (first, second) = (
            try Self.configuration(Self.text(origins)), try Self.configuration(Self.text(proxies))
        )
        #expect(first.tls.policy.certificateRules == rules && first.proxyTLS.policy.certificateRules == .strict)
        #expect(second.proxyTLS.policy.certificateRules == rules && second.tls.policy.certificateRules == .strict)
    }

    @Test func `the example configuration differs from the default in every setting`() throws {
        // So that a setting that is not written, or not read, cannot pass for one that is.
        func settings(_ text: String) throws -> [String: DynamicValue] {
            var flat: [String: DynamicValue] = [:]
            for setting in try DynamicValue(json: Bytes(text)).members ?? [:] {
                for inner in setting.value.members ?? ["": setting.value] {
                    flat["\(setting.key).\(inner.key)"] = inner.value
                }
            }
            return flat
        }
        let (standard, unusual) = (try settings(Self.text(.init())), try settings(Self.text(Self.unusual())))
        #expect(standard.count > 40)
        for (name, value) in standard where name != "version." && name != "requestSerializer.style" {
            #expect(unusual[name] != value || name.hasPrefix("requestSerializer"), "\(name)")
        }
    }

    @Test(.rows("HS-19")) func `a saved configuration keeps no secrets, and nothing that is code or of one machine`()
        throws
    {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test")
        configuration.fields["Authorization"] = "hush"
        configuration.fields["X-API-Key"] = "hush"
        configuration.fields["X-Jwt"] = "hush"
        configuration.fields["X-Callback"] = "https://b.test/?token=hush"
        configuration.fields.append(name: "X-Odd", value: "hush", sensitive: true)
        configuration.credentials = .bearer(token: "hush")
        configuration.tls.identity = .pem("/me.pem", passphrase: "hush")
        configuration.tls.keyLog = .file("/keys")
        configuration.hostOverrides = ["api.test": .v4(0x7F00_0001, port: 1)]
        configuration.sockets.localAddress = .v4(0x7F00_0001, port: 1)
        configuration.transport = MockTransport()
        let text = try Self.text(configuration)
        #expect(!text.contains("hush") && !text.contains("/me.pem") && !text.contains("/keys"))
        let kept = Saved(configuration).configuration
        #expect(
            kept.credentials == nil && kept.tls.identity == nil && kept.transport == nil && kept.hostOverrides.isEmpty)
    }

    @Test(arguments: [
        ("https://u:hush@a.test/v1/?api_key=hush#top", "https://a.test/v1/"),
        ("https://a.test/v1?ticket=hush", "https://a.test/v1"),
        ("https://a.test/?next=http%3A%2F%2Fb.test%2F%3Ftoken%3Dhush", "https://a.test/"),
        ("https://a.test/v1/?page=2", "https://a.test/v1/?page=2"),
    ])
    func `a base URL is saved without its query if that has a secret`(url: String, saved: String) throws {
        var configuration = HTTPSession.Configuration(baseURL: url)
        configuration.secretFields = ["ticket"]
        #expect(Saved(configuration).configuration.baseURL == saved)
        #expect(try !Self.text(configuration).contains("hush"))
    }

    @Test func `fields for CONNECT are kept with the proxy, but for those that are secret`() throws {
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test")
        var fields: Fields = [
            "X-Tenant": "seven", "X-Api-Token": "hush", "X-Jwt": "hush", "X-Back": "http://b.test/?sig=hush",
        ]
        fields.append(name: "X-Plain", value: "hush too", sensitive: true)
        configuration.proxy = .url("http://ada:pw@proxy.test:3128", except: ".a", connectFields: fields)
        let text = try Self.text(configuration)
        #expect(text.contains(#""connectFields":["X-Tenant: seven"]"#) && !text.contains("hush"), "\(text)")
        let back = try Self.text(try Self.configuration(text))
        #expect(back == text)
        configuration.secretFields = ["X-Tenant"]
        #expect(try !Self.text(configuration).contains("seven"))
        #expect(throws: DecodingError.self) {
            try Self.configuration(#"{"proxy":{"kind":"url","url":"http://p.test","connectFields":["X"]}}"#)
        }
    }

    @Test func `settings that a saved configuration leaves out are as in a new one`() throws {
        let configuration = try Self.configuration(
            #"{"baseURL":"http://a.test","timeouts":{"total":2.5,"readIdle":null},"#
                + #""limits":{"bodyBytes":null},"more":1}"#
        )
        #expect(configuration.baseURL == "http://a.test")
        #expect(configuration.timeouts.total == .milliseconds(2500) && configuration.timeouts.readIdle == nil)
        #expect(configuration.timeouts.connect == Timeouts().connect)
        #expect(configuration.limits.bodyBytes == nil && configuration.limits.headBytes == 128 * 1024)
        #expect(configuration.fields == HTTPSession.Configuration.defaultFields)
        #expect(configuration.guard == nil)
        #expect(try Self.configuration(#"{"guard":{}}"#).guard == .publicInternet)
        _ = try HTTPSession(configuration)
    }

    @Test(
        .rows("AP-5"),
        arguments: [
            #"{"version":2}"#, #"{"baseURL":7}"#, #"{"timeouts":{"total":"1 s"}}"#, #"{"timeouts":{"total":1e300}}"#,
            #"{"timeouts":[]}"#, #"{"fields":["no colon"]}"#, #"{"tls":{"versions":["1.3","1.2"]}}"#,
            #"{"tls":{"versions":["1.3","1.1"]}}"#, #"{"tls":{"roots":{"system":false,"sources":[{}]}}}"#,
            #"{"interfaces":{"deniedKinds":["tin can"]}}"#, #"{"tls":{"revocation":{"staple":"sometimes"}}}"#,
            #"{"tls":{"policy":{"pins":["garbage"]}}}"#, #"{"tls":{"policy":{"certificateRules":"lax"}}}"#,
            #"{"guard":{"allowedAddresses":["10.0.0.1/8"]}}"#,
            #"{"guard":{"schemes":["ftp"]}}"#, #"{"guard":true}"#, "[]", "",
        ])
    func `a saved configuration with a setting that has no meaning is refused`(text: String) {
        #expect(throws: DecodingError.self) { try Self.configuration(text) }
    }

    @Test(.rows("CO-2")) func `a configuration with a serializer that holds code cannot be saved`() {
        var configuration = HTTPSession.Configuration()
        configuration.requestSerializer = .custom { _ in .none }
        #expect(throws: EncodingError.self) { try Self.text(configuration) }
    }
}
