import Dunlin
import DunlinTesting
import DunlinTypes
import Synchronization
import Testing

/// Every name stands for the next addresses of a list each time somebody asks, and in the end for the last.
private final class RebindingResolver: Resolver {
    private let answers: Mutex<[[HTTP.SocketAddress]]>
    private let asked = Mutex<[String]>([])

    init(_ answers: [HTTP.SocketAddress]...) {
        self.answers = Mutex(answers)
    }

    var names: [String] { asked.withLock { $0 } }

    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] {
        asked.withLock { $0.append(host) }
        let addresses = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        return addresses.map { address in
            switch address {
            case .v4(let bits, _): .v4(bits, port: port)
            case .v6(let high, let low, _, let scope): .v6(high, low, port: port, scope: scope)
            case .unix: address
            }
        }
    }
}

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `The guard` {
    private static let loopback = HTTP.SocketAddress.v4(0x7F00_0001, port: 0)
    private static let metadata = HTTP.SocketAddress.v4(0xA9FE_A9FE, port: 0)
    private static let privateAddress = HTTP.SocketAddress.v4(0x0A00_0001, port: 0)

    /// A guard that lets pass what the loopback server is, and no other address.
    private static var loopbackAlone: HTTPSession.Guard {
        var rules = HTTPSession.Guard.nothing
        rules.allowedAddresses = ["127.0.0.1"]
        return rules
    }

    private static func expectRefused(
        _ stage: Stage, _ target: HTTP.Target, saying words: String, options: HTTPSession.Options = .init(),
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try await NetworkError.thrown {
            _ = try await stage.session.get(target, options: options, as: .bytes)
        }
        #expect(error.code == .guardRefused, "\(error)", sourceLocation: location)
        #expect(error.reason.contains(words), "\(error)", sourceLocation: location)
        #expect(!error.requestMayHaveBeenSent && error.isSafeToRetry, sourceLocation: location)
    }

    @Test func `the public internet is not this machine, and the server hears nothing`() async throws {
        try await Stage.with(configure: { $0.guard = .publicInternet }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            try await Self.expectRefused(stage, "x", saying: "127.0.0.1 is a loopback address (RFC 1122)")
            #expect(stage.server.connectionCount == 0)
            #expect(stage.session.connections.open == 0 && stage.session.connections.waiting == 0)
        }
    }

    @Test(arguments: [
        ("169.254.169.254", "a cloud's metadata address (AWS, Azure, Google Cloud and others)"),
        ("10.1.2.3", "a private address"), ("[::1]", "a loopback address"), ("[fe80::1]", "a link-local address"),
        ("[::ffff:127.0.0.1]", "a loopback address"), ("[64:ff9b::7f00:1]", "127.0.0.1 behind NAT64"),
        ("[2002:7f00:1::]", "127.0.0.1 behind 6to4"), ("0.0.0.0", "an unspecified address"),
        ("224.0.0.1", "a multicast address"), ("255.255.255.255", "a broadcast address"),
        ("[fd00::1]", "a unique-local address"),
    ])
    func `an address in a URL is refused by what it is for`(host: String, purpose: String) async throws {
        let resolver = RebindingResolver([])
        try await Stage.with(configure: {
            $0.guard = .publicInternet
            $0.resolver = resolver
        }) { (stage: Stage) async throws in
            try await Self.expectRefused(stage, .url("\(stage.scheme)://\(host)/"), saying: purpose)
            #expect(resolver.names.isEmpty)
        }
    }

    @Test(arguments: ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1."])
    func `an odd spelling of an address never leads to it`(host: String) async throws {
        try await Stage.with(configure: { $0.guard = .publicInternet }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get(.url("\(stage.scheme)://\(host):\(stage.server.port)/"), as: .bytes)
            }
            #expect([.guardRefused, .invalidRequest, .nameNotResolved].contains(error.code), "\(error)")
            #expect(stage.server.connectionCount == 0)
        }
    }

    @Test func `a name that stands for another address the next time gains nothing`() async throws {
        let resolver = RebindingResolver([Self.loopback], [Self.metadata], [Self.privateAddress, Self.metadata])
        try await Stage.with(configure: {
            $0.guard = Self.loopbackAlone
            $0.resolver = resolver
            $0.nameResolution.timeToLive = .zero
            $0.connections.maximumUses = 1
        }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let target = HTTP.Target.url("\(stage.scheme)://localhost:\(stage.server.port)/")
            #expect(try await stage.session.get(target, as: .string).value == "x")
            try await Self.expectRefused(stage, target, saying: "169.254.169.254 is a cloud's metadata address")
            try await Self.expectRefused(stage, target, saying: "10.0.0.1 is a private address")
            #expect(resolver.names == ["localhost", "localhost", "localhost"])
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `of a name's addresses those that are allowed are tried, and no other`() async throws {
        let resolver = RebindingResolver([Self.privateAddress, Self.metadata, Self.loopback])
        try await Stage.with(configure: {
            $0.guard = Self.loopbackAlone
            $0.resolver = resolver
        }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let target = HTTP.Target.url("\(stage.scheme)://localhost:\(stage.server.port)/")
            let response = try await stage.session.get(target, as: .string)
            #expect(response.value == "x")
            #expect(response.metrics.hops.last?.peer == .v4(0x7F00_0001, port: stage.server.port))
        }
    }

    @Test func `a redirect is judged by itself, and so is a connection that is opened ahead`() async throws {
        try await Stage.with(configure: { $0.guard = Self.loopbackAlone }) { (stage: Stage) async throws in
            let there = "\(stage.scheme)://169.254.169.254/latest/meta-data/"
            stage.server.route(.get, "/away", .response(.found, fields: ["Location": there]))
            try await Self.expectRefusedRedirect(stage)
            let error = try await NetworkError.thrown {
                _ = try await stage.session.prewarm(1, to: .url("\(stage.scheme)://10.0.0.1/"))
            }
            #expect(error.code == .guardRefused && error.reason.contains("10.0.0.1 is a private address"))
            #expect(try await stage.session.prewarm(1, to: "/") == 1)
        }
    }

    private static func expectRefusedRedirect(_ stage: Stage) async throws {
        let error = try await NetworkError.thrown { _ = try await stage.session.get("away", as: .bytes) }
        #expect(error.code == .guardRefused, "\(error)")
        #expect(error.reason.contains("169.254.169.254 is a cloud's metadata address"), "\(error)")
    }

    @Test func `a refused request has one attempt, whatever the policy says`() async throws {
        let resolver = RebindingResolver([Self.metadata])
        try await Stage.with(configure: {
            $0.guard = .publicInternet
            $0.resolver = resolver
            $0.retry = .constant(attempts: 5, every: .zero)
        }) { (stage: Stage) async throws in
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get(.url("\(stage.scheme)://api.test/"), as: .bytes)
            }
            #expect(error.code == .guardRefused && error.attempts == 1 && resolver.names == ["api.test"])
        }
    }

    @Test func `schemes, ports and hosts are judged before a name is looked up`() async throws {
        let resolver = RebindingResolver([Self.loopback])
        var rules = Self.loopbackAlone
        rules.ports = [443]
        rules.allowedHosts = ["*.example.com", "api.test"]
        rules.deniedHosts = ["secret.example.com"]
        try await Stage.with(configure: { [rules] in
            $0.guard = rules
            $0.resolver = resolver
        }) { (stage: Stage) async throws in
            let base = "\(stage.scheme)://"
            try await Self.expectRefused(stage, .url(base + "api.test:8443/"), saying: "port 8443")
            try await Self.expectRefused(
                stage, .url(base + "example.com:443/"), saying: "example.com is not in `allowedHosts`")
            try await Self.expectRefused(
                stage, .url(base + "SECRET.example.com.:443/"), saying: "`deniedHosts`")
            var own = Self.loopbackAlone
            own.schemes = [stage.scheme == "http" ? .https : .http]
            try await Self.expectRefused(
                stage, .url(base + "api.test/"), saying: "the scheme \(stage.scheme) is not in `schemes`",
                options: .init(guard: .value(own)))
            #expect(resolver.names.isEmpty)
        }
    }

    @Test func `a connection is lent only under the guard that it was opened under`() async throws {
        try await Stage.with(configure: { $0.guard = Self.loopbackAlone }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            var stricter = Self.loopbackAlone
            stricter.ports = [stage.server.port]
            let choices: [HTTPSession.PerRequest<HTTPSession.Guard>] = [
                .session, .value(stricter), .none, .value(Self.loopbackAlone), .value(stricter), .none,
            ]
            var connections: [UInt64?] = []
            for choice in choices {
                let response = try await stage.session.get("x", options: .init(guard: choice), as: .string)
                connections.append(response.metrics.hops.last?.connection)
            }
            // An equal guard is the same guard, whoever names it.
            #expect(connections[0] == connections[3] && connections[1] == connections[4])
            #expect(connections[2] == connections[5] && Set(connections).count == 3)
            // There is an idle connection, and it is not for this request.
            try await Self.expectRefused(
                stage, "x", saying: "127.0.0.1 is a loopback address", options: .init(guard: .publicInternet))
            #expect(try await stage.session.prewarm(2, to: "/", options: .init(guard: .value(stricter))) == 2)
            #expect(stage.session.connections.open == 4)
        }
    }

    @Test func `a Unix socket is refused unless they are allowed`() async throws {
        try await Stage.with(.abstract, configure: { $0.guard = .publicInternet }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            try await Self.expectRefused(stage, "x", saying: "Unix sockets")
            #expect(stage.server.connectionCount == 0)
            var rules = HTTPSession.Guard.publicInternet
            rules.allowsUnixSockets = true
            let options = HTTPSession.Options(guard: .value(rules))
            #expect(try await stage.session.get("x", options: options, as: .string).value == "x")
        }
    }

    @Test func `an interceptor leads nowhere that the guard refuses`() async throws {
        let elsewhere = HTTP.Origin(
            scheme: .http, host: "api.test", route: HTTP.Route(address: .v4(0xA9FE_A9FE, port: 80)))
        for isAroundCall in [true, false] {
            let move: @Sendable (TransportRequest, HTTPSession.Next) async throws -> TransportResponse = {
                request, next in
                try await next(request.with { $0.head.origin = elsewhere })
            }
            try await Stage.with(configure: {
                $0.guard = Self.loopbackAlone
                $0.interceptors = [isAroundCall ? .call(move) : .exchange(move)]
            }) { (stage: Stage) async throws in
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect([.guardRefused, .interceptorFailed].contains(error.code), "\(error)")
                #expect(stage.server.connectionCount == 0)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `The guard's settings` {
    @Test(arguments: [
        (["10.0.0.1/8"], [String](), #"guard.allowedAddresses: "10.0.0.1/8": bits are set beyond"#),
        (["example.com"], [], #"guard.allowedAddresses: "example.com": an address was expected"#),
        ([], ["10.0.0.1"], #"guard.allowedHosts: "10.0.0.1": this is an address"#),
        ([], ["a.*"], #"guard.allowedHosts: "a.*": a * may only stand in front"#),
    ])
    func `an invalid entry of a guard's list is named in the error`(
        addresses: [String], hosts: [String], reason: String
    ) async throws {
        var rules = HTTPSession.Guard.publicInternet
        (rules.allowedAddresses, rules.allowedHosts) = (addresses, hosts)
        var configuration = HTTPSession.Configuration()
        configuration.guard = rules
        let error = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
        #expect(error?.code == .invalidConfiguration && error?.reason.hasPrefix(reason) == true)
        let session = try HTTPSession(.init(transport: MockTransport()))
        let refused = try await NetworkError.thrown {
            _ = try await session.get("http://api.test/", options: .init(guard: .value(rules)), as: .bytes)
        }
        #expect(refused.code == .invalidRequest && refused.reason.hasPrefix(reason))
    }

    @Test func `over a transport of one's own the URL is judged`() async throws {
        let mock = MockTransport()
        mock.otherwise { _ in .respond(body: "x") }
        var configuration = HTTPSession.Configuration(transport: mock)
        configuration.guard = .publicInternet
        let session = try HTTPSession(configuration)
        #expect(try await session.get("http://api.test/", as: .string).value == "x")
        let error = try await NetworkError.thrown {
            _ = try await session.get("http://169.254.169.254/", as: .bytes)
        }
        #expect(error.code == .guardRefused && error.reason.contains("a cloud's metadata address"))
        #expect(try await session.get("http://10.0.0.1/", options: .init(guard: .none), as: .string).value == "x")
    }
}
