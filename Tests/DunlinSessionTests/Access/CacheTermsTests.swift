import Dunlin
import DunlinSemantics
import DunlinTesting
import Folders
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Terms of what is stored` {
    private static let fresh: Fields = ["Cache-Control": "public, max-age=86400"]

    /// A transport that answers each request with another body.
    private func numbered() -> MockTransport {
        let transport = MockTransport()
        let number = Atomic(0)
        transport.otherwise { _ in
            .respond(fields: Self.fresh, body: Bytes("\(number.add(1, ordering: .relaxed).newValue)".utf8))
        }
        return transport
    }

    private func session(
        _ transport: MockTransport, _ cache: HTTPSession.Cache, scheme: String = "http",
        _ change: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "\(scheme)://a.test", transport: transport)
        configuration.cache = cache
        change(&configuration)
        return try HTTPSession(configuration)
    }

    private static func guarded(_ change: (inout HTTPSession.Guard) -> Void = { _ in }) -> HTTPSession.Guard {
        var rules = HTTPSession.Guard.publicInternet
        change(&rules)
        return rules
    }

    // MARK: - The guard

    private static let forbidden: [(String, HTTPSession.Guard, HTTPSession.Options)] = [
        ("http://127.0.0.1/a", guarded(), .init()), ("http://[::1]/a", guarded(), .init()),
        ("http://a.test:81/a", guarded { $0.ports = [80] }, .init()),
        ("http://a.test/a", guarded { $0.schemes = [.https] }, .init()),
        ("http://a.test/a", guarded { $0.deniedHosts = ["*.test"] }, .init()),
        ("http://a.test/a", guarded { $0.allowedHosts = ["b.test"] }, .init()),
        ("http://a.test/a", guarded(), .init(hostOverrides: ["a.test": .v4(0x7F00_0001, port: 80)])),
        ("http://a.test/a", guarded(), .init(hostOverrides: ["a.test": .unix("/run/a")])),
        ("http://a.test/a", guarded(), .init(proxy: .value(.url("http://p.test:3128")))),
        ("http://a.test/a", guarded(), .init(proxy: .value(.url("socks5://127.0.0.1:1080")))),
    ]

    @Test(arguments: forbidden.indices, [HTTPSession.CacheMode.standard, .preferringStored, .storedOnly])
    func `responses that the guard forbids are not served from a cache either`(index: Int, mode: HTTPSession.CacheMode)
        async throws
    {
        let (url, rules, given) = Self.forbidden[index]
        let (transport, cache) = (numbered(), HTTPSession.Cache(MapStore(isAtHand: true)))
        let target = HTTP.Target(stringLiteral: url)
        let open = try session(transport, cache)
        _ = try await open.get(target, options: given, as: .string)
        var options = given
        options.cacheMode = .value(mode)
        // By a request's guard, and by that of another session which shares the cache.
        for _ in 1...2 {
            options.guard = .value(rules)
            let error = await #expect(throws: NetworkError.self) {
                _ = try await open.get(target, options: options, as: .string)
            }
            #expect(error?.code == .guardRefused && error?.phase == .connect)
            options.guard = .session
            let closed = try session(transport, cache) { $0.guard = rules }
            let other = await #expect(throws: NetworkError.self) {
                _ = try await closed.get(target, options: options, as: .string)
            }
            #expect(other?.code == .guardRefused)
        }
        #expect(transport.requests.count == 1)
    }

    @Test func `a guarded request takes only what equal rules fetched`() async throws {
        let (transport, cache) = (numbered(), HTTPSession.Cache(MapStore(isAtHand: true)))
        let other = Self.guarded { $0.deniedHosts = ["b.test"] }
        for _ in 1...2 {
            for (index, rules) in [nil, Self.guarded(), other].enumerated() {
                let session = try session(transport, cache) { $0.guard = rules }
                #expect(try await session.get("/a", as: .string).value == "\(index + 1)")
            }
            let (session, options) = (try session(transport, cache), HTTPSession.Options(guard: .publicInternet))
            #expect(try await session.get("/a", options: options, as: .string).value == "2")
        }
    }

    @Test func `rules that say the same in another order are equal, in every process`() async throws {
        let (transport, folder) = (numbered(), Folder.unmade())
        let hosts = (0..<20).map { "h\($0).test" }
        for list in [hosts, hosts.reversed(), hosts.shuffled()] {
            let cache = HTTPSession.Cache(folder: folder.path)
            let session = try session(transport, cache) { $0.guard = Self.guarded { $0.deniedHosts = list } }
            #expect(try await session.get("/a", as: .string).value == "1")
            await cache.close()
        }
    }

    // MARK: - Trust

    @Test func `what was fetched from a server that one session trusts is not for one that trusts others`()
        async throws
    {
        let (transport, cache) = (numbered(), HTTPSession.Cache(MapStore(isAtHand: true)))
        let ways: [(@Sendable (inout HTTPSession.Configuration) -> Void)] = [
            { _ in }, { $0.tls.policy = .insecure }, { $0.authenticationHandler = { _ in .performDefault } },
            { $0.tls.policy.validatesDomainName = false },
            {
                ($0.userID, $0.authenticationHandler) = ("alice", { _ in .performDefault })
            },
        ]
        let sessions = try ways.map { try session(transport, cache, scheme: "https", $0) }
        for _ in 1...2 {
            for (index, session) in sessions.enumerated() {
                #expect(try await session.get("/a", as: .string).value == "\(index + 1)")
            }
        }
        for way in ways[..<2] + ways[3...] {
            _ = try await session(transport, cache, scheme: "https", way).get("/a", as: .string)
        }
        #expect(transport.requests.count == ways.count)
        // Over http nobody is trusted by a certificate; whoever has a name vouches by it for what the transport brings.
        for way in ways[..<4] { _ = try await session(transport, cache, way).get("/a", as: .string) }
        #expect(transport.requests.count == ways.count + 1)
        for _ in 1...2 { _ = try await session(transport, cache, ways[4]).get("/a", as: .string) }
        #expect(transport.requests.count == ways.count + 2)
    }

    @Test(arguments: [false, true])
    func `what was fetched under a root in a file is not for who trusts the next root there`(byReloading: Bool)
        async throws
    {
        let (transport, cache) = (numbered(), HTTPSession.Cache(MapStore(isAtHand: true)))
        let folder = try Folder()
        let roots = try (0..<2).map { try CertificateAuthority(.authority("\($0)")).certificate.pem }
        let path = try folder.write(roots[0], as: "root.pem")
        func make() throws -> HTTPSession {
            try session(transport, cache, scheme: "https") { $0.tls.roots = .only([.file(path)]) }
        }
        let first = try make()
        for root in [roots[0], roots[1], roots[0]] {
            try folder.write(root, as: "root.pem", inPlace: true)
            if byReloading { try first.reloadTLS() }
            let session = byReloading ? first : try make()
            for _ in 1...2 {
                #expect(try await session.get("/a", as: .string).value == (root == roots[0] ? "1" : "2"))
            }
        }
    }

    // MARK: - The network

    private static let networks: [HTTPSession.Options] = {
        var address = HTTP.SocketOptions()
        address.localAddress = .v4(0x7F00_0002, port: 0)
        var interface = HTTP.SocketOptions()
        interface.interface = "tun0"
        return [
            .init(), .init(sockets: .value(address)), .init(sockets: .value(interface)),
            .init(interfaces: .value(.deny(kinds: .wwan))), .init(interfaces: .value(.allow(names: "tun0"))),
        ]
    }()

    @Test func `what came over one network is not for who asks over another`() async throws {
        let (transport, cache) = (numbered(), HTTPSession.Cache(MapStore(isAtHand: true)))
        let open = try session(transport, cache)
        for _ in 1...2 {
            for (index, options) in Self.networks.enumerated() {
                #expect(try await open.get("/a", options: options, as: .string).value == "\(index + 1)")
                // Whether the request says it or the session.
                let other = try session(transport, cache) { configuration in
                    if let sockets = options.sockets.own { configuration.sockets = sockets }
                    if let interfaces = options.interfaces.own { configuration.interfaces = interfaces }
                }
                #expect(try await other.get("/a", as: .string).value == "\(index + 1)")
            }
        }
        // What says nothing of the network does not count.
        var delayed = HTTP.SocketOptions()
        delayed.noDelay = false
        let options = HTTPSession.Options(sockets: .value(delayed), interfaces: .value(.any))
        #expect(try await open.get("/a", options: options, as: .string).value == "1")
    }

    // MARK: - Host

    @Test func `a Host field of the request's own names another resource`() async throws {
        let (transport, cache) = (numbered(), HTTPSession.Cache(MapStore(isAtHand: true)))
        let session = try session(transport, cache)
        for _ in 1...2 {
            for (host, body) in [("a.test", "1"), ("b.test", "2"), ("c.test", "3"), ("A.test", "1"), ("B.TEST", "2")] {
                let options = HTTPSession.Options(fields: ["Host": host])
                #expect(try await session.get("/a", options: options, as: .string).value == body)
            }
            #expect(try await session.get("/a", as: .string).value == "1")
        }
        _ = try await session.put("/a", options: .init(fields: ["Host": "b.test"]), as: .bytes)
        #expect(try await session.get("/a", as: .string).value == "1")
        #expect(
            try await session.get("/a", options: .init(fields: ["Host": "b.test"]), as: .string).value == "5")
    }

    @Test func `an interceptor's request to another host is not stored`() async throws {
        let (transport, cache) = (numbered(), HTTPSession.Cache(MapStore(isAtHand: true)))
        let session = try session(transport, cache) { configuration in
            configuration.interceptors = [
                .exchange { request, next in try await next(request) { $0.head.fields["Host"] = "b.test" } }
            ]
        }
        for body in ["1", "2"] { #expect(try await session.get("/a", as: .string).value == body) }
        #expect(await cache.entries().isEmpty)
    }

    /// A whole answer, a confirmation and the rest of a body are another resource's.
    @Test(arguments: ["whole", "confirmed", "joined"])
    func `an interceptor's request to another target is not stored, and confirms and completes nothing`(
        answer: String
    ) async throws {
        let isLed = Mutex(answer == "whole")
        let stage = try CachedStage { configuration in
            configuration.interceptors = [
                .exchange { request, next in
                    let isLed = isLed.withLock(\.self)
                    return try await next(request) { if isLed { $0.head.target = "/other" } }
                }
            ]
        }
        let fields: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
        stage.transport.otherwise { request in
            let body: Bytes = request.target == "/other" ? "others" : "wanted"
            if request.fields.contains("if-none-match") { return .respond(304, fields: fields) }
            guard request.fields.contains("range") else { return .respond(fields: fields, body: body) }
            return .respond(206, fields: fields.overlaid(with: ["Content-Range": "bytes 3-5/6"]), body: body[3..<6])
        }
        let asked = HTTPSession.Options(fields: answer == "joined" ? ["Range": "bytes=0-2"] : [:])
        if answer != "whole" { _ = try await stage.session.get("/a", options: asked, as: .string) }
        isLed.withLock { $0 = true }
        let mode = HTTPSession.Options(cacheMode: answer == "confirmed" ? .value(.validating) : .session)
        #expect(try await stage.session.get("/a", options: mode, as: .string).value == "others")
        isLed.withLock { $0 = false }
        #expect(try await stage.session.get("/a", as: .string).value == "wanted")
    }

    @Test(arguments: [true, false])
    func `removing a URL removes it for every Host and address`(isOnDisk: Bool) async throws {
        let (transport, folder) = (numbered(), Folder.unmade())
        let cache = isOnDisk ? HTTPSession.Cache(folder: folder.path) : HTTPSession.Cache()
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.cache = cache
        let session = try HTTPSession(configuration)
        var overridden = HTTPSession.Options()
        overridden.hostOverrides["a.test"] = .v4(0x7F00_0001, port: 80)
        for options in [.init(), .init(fields: ["Host": "b.test"]), .init(fields: ["Host": "c.test:8"]), overridden] {
            for target in ["/a", "/ab", "/a?b"] as [HTTP.Target] {
                _ = try await session.get(target, options: options, as: .string)
            }
        }
        #expect(await cache.entries().count == 12)
        try await cache.remove("http://a.test/a")
        #expect(await cache.entries().count == 8)
        #expect(await !cache.entries().contains { $0.url == "http://a.test/a" })
        await session.shutdown()
        await cache.close()
    }

    @Test func `requests that name different hosts are not sent as one`() async throws {
        let (transport, opened) = (MockTransport(), Settlement<Void>())
        transport.otherwise { request in
            await opened.value
            return .respond(body: Bytes((request.fields["host"] ?? "none").utf8))
        }
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.coalescing.isOn = true
        let session = try HTTPSession(configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for host in ["b.test", "c.test"] {
                group.addTask {
                    let options = HTTPSession.Options(fields: ["Host": host])
                    let body = try await session.get("/a", options: options, as: .string).value
                    #expect(body == host)
                }
            }
            try await transport.waitForRequests(2)
            opened.settle(())
            try await group.waitForAll()
        }
    }
}
