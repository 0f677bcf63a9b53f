import Dunlin
import LedgerRows
import Testing

@testable import DunlinSession

@Suite struct `Overrides of hosts` {
    private static let here = HTTP.SocketAddress.v4(0x7F00_0001, port: 8080)
    private static let there = HTTP.SocketAddress.v6(0, 1, port: 0)

    private static func origin(
        _ url: String, base: String? = nil, _ configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        options: (inout HTTPSession.Options) -> Void = { _ in }
    ) throws -> HTTP.Origin {
        var configuration = HTTPSession.Configuration(baseURL: base)
        configure(&configuration)
        var own = HTTPSession.Options()
        options(&own)
        let head = try RequestBuilder(configuration).head(.get, HTTP.Target(url), own: own.fields)
        return try own.rare?.routed(head.origin) ?? head.origin
    }

    static let matches: [(String, String, Bool)] = [
        ("a.test", "http://a.test/", true), ("a.test", "https://a.test:7/", true), ("a.test", "http://b.test/", false),
        ("A.Test", "http://a.test/", true), ("a.test:80", "http://a.test/", true),
        ("a.test:80", "http://a.test:81/", false),
        ("a.test:443", "https://a.test/", true), ("a.test:443", "http://a.test/", false),
        ("[::1]:80", "http://[0:0::1]/", true), ("bücher.example", "http://xn--bcher-kva.example/", true),
        ("127.0.0.1", "http://127.0.0.1:99/", true),
    ]

    @Test(arguments: matches, [false, true])
    func `an override applies to the host and port it names, and keeps the authority`(
        match: (String, String, Bool), isOfRequest: Bool
    ) throws {
        let (key, url, isMatch) = match
        let origin = try Self.origin(url) {
            if !isOfRequest { $0.hostOverrides[key] = Self.here }
        } options: {
            if isOfRequest { $0.hostOverrides[key] = Self.here }
        }
        let plain = try Self.origin(url)
        #expect(origin.route?.address == (isMatch ? Self.here : nil))
        #expect(origin.authority == plain.authority)
        #expect((origin == plain) == !isMatch)
    }

    @Test(.rows("RQ-50")) func `overrides count in the order request, session, socket, and one with a port first`()
        throws
    {
        let origin = { (own: HTTPSession.HostOverrides, hosts: HTTPSession.HostOverrides) in
            try Self.origin("x", base: "http://a.test/") {
                $0.hostOverrides = hosts
                $0.socketPath = "/s"
            } options: {
                $0.hostOverrides = own
            }.route?.address
        }
        #expect(try origin(["a.test": Self.here], ["a.test": Self.there]) == Self.here)
        #expect(try origin(["b.test": Self.here], ["a.test": Self.there]) == Self.there)
        #expect(try origin([:], ["b.test": Self.there]) == .unix("/s"))
        #expect(try origin([:], ["a.test": Self.here, "a.test:80": Self.there]) == Self.there)
    }

    @Test func `a request's socket options are part of where it goes, beside the session's override`() throws {
        var sockets = HTTP.SocketOptions()
        sockets.priority = 1
        let origin = try Self.origin("http://a.test/") {
            $0.hostOverrides = ["a.test": Self.here]
        } options: {
            $0.sockets = .value(sockets)
        }
        #expect(origin.route == HTTP.Route(address: Self.here, sockets: sockets))
        #expect(try Self.origin("http://a.test/", options: { $0.hostOverrides = [:] }).route == nil)
    }

    @Test func `none for sockets and interfaces stands for the system's, not the session's`() throws {
        let origin = try Self.origin(
            "http://a.test/",
            options: {
                $0.sockets = .none; $0.interfaces = .none
            })
        #expect(origin.route == HTTP.Route(sockets: HTTP.SocketOptions(), interfaces: .any))
    }

    @Test(arguments: ["", "a b", "http://a", "a.test/", "a.test/x", "a@b", "a:0", "a:x", "a#b", "a?b", "::1"])
    func `an override for what is no host is refused`(key: String) throws {
        let early = #expect(throws: NetworkError.self) {
            try Self.origin("http://a/", { $0.hostOverrides = [key: Self.here] })
        }
        #expect(early?.code == .invalidConfiguration)
        let late = #expect(throws: NetworkError.self) {
            try Self.origin("http://a/", options: { $0.hostOverrides = [key: Self.here] })
        }
        #expect(late?.code == .invalidRequest)
    }

    static let refusedByProxies: [(HTTP.SocketAddress, String, String)] = [
        (
            here, "http://proxy.test:3128",
            "127.0.0.1:8080, but the proxy http://proxy.test:3128 looks names up itself; add a.test to the proxy's "
                + "exceptions (`except:`), or use socks5://"
        ),
        (
            .unix("/run/a"), "socks5://proxy.test:1080",
            "unix:/run/a, but the proxy socks5://proxy.test:1080 cannot connect to Unix sockets; add a.test to the "
                + "proxy's exceptions (`except:`)"
        ),
    ]

    @Test(arguments: refusedByProxies)
    func `a proxy that cannot use an origin's own address is refused with what to change`(
        address: HTTP.SocketAddress, proxy: String, ending: String
    ) throws {
        let origin = try Self.origin("http://a.test/") { $0.hostOverrides = ["a.test": address] }
        let choose = try #require(try HTTPSession.Proxy.url(proxy).chooser([:], .invalidConfiguration))
        let error = #expect(throws: NetworkError.self) {
            _ = try choose(RequestHead(method: .get, origin: origin, target: "/"))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason == "`hostOverrides` or `socketPath` gives http://a.test the address " + ending)
    }

    @Test func `socket options that the kernel would refuse are refused before`() {
        let late = #expect(throws: NetworkError.self) {
            var sockets = HTTP.SocketOptions()
            sockets.priority = 9
            _ = try Self.origin("http://a/", options: { $0.sockets = .value(sockets) })
        }
        #expect(late?.code == .invalidRequest)
        #expect(late?.reason == "sockets.priority must be 0 to 6, not 9")
    }

    struct Setting: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout HTTPSession.Configuration) -> Void
    }

    @Test(
        .rows("G-7"),
        arguments: [
            Setting(testDescription: "nameResolution.timeToLive") { $0.nameResolution.timeToLive = .seconds(-1) },
            Setting(testDescription: "nameResolution.negativeTimeToLive") {
                $0.nameResolution.negativeTimeToLive = .seconds(-1)
            },
            Setting(testDescription: "nameResolution.capacity") { $0.nameResolution.capacity = -1 },
            Setting(testDescription: "nameResolution.connectionAttemptDelay") {
                $0.nameResolution.connectionAttemptDelay = .milliseconds(9)
            },
            Setting(testDescription: "sockets.differentiatedServices") { $0.sockets.differentiatedServices = 64 },
        ])
    func `a session refuses settings of names and sockets that cannot be`(setting: Setting) {
        var configuration = HTTPSession.Configuration()
        setting.set(&configuration)
        let error = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason.hasPrefix(setting.testDescription) == true)
    }

    @Test(arguments: [
        ("127.0.0.1", HTTP.SocketAddress.v4(0x7F00_0001, port: 5)), ("::1", .v6(0, 1, port: 5)), ("a", nil),
        ("1.2.3", nil),
        ("[::1]", nil), ("", nil),
    ])
    func `addresses are made from their notation`(text: String, expected: HTTP.SocketAddress?) {
        #expect(HTTP.SocketAddress(ip: text, port: 5) == expected)
    }
}
