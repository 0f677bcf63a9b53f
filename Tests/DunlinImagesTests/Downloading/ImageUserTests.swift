import Dunlin
import DunlinImages
import DunlinTesting
import Testing

/// Pictures belong to who asked for them.
@Suite(.timeLimit(.minutes(10))) struct `The user of a picture` {
    /// A way in which a session says who asks.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let say: @Sendable (inout HTTPSession.Configuration, _ user: String) throws -> Void

        static let all = [
            Way(testDescription: "credentials") { $0.credentials = .basic(user: $1, password: "secret") },
            Way(testDescription: "a password") { $0.credentials = .digest(user: $1, password: "secret") },
            Way(testDescription: "fields of the origin") { $0.originFields = ["X-Monkey": $1] },
            Way(testDescription: "a field of the session") { $0.fields = ["X-Api-Key": $1] },
            Way(testDescription: "what a proxy says") { $0.fields = ["X-Goog-Iap-Jwt-Assertion": $1] },
            Way(testDescription: "a cookie of the session's own") { $0.fields = ["Cookie": "user=\($1)"] },
            Way(testDescription: "a cookie of the origin's") { $0.originFields = ["Cookie": "user=\($1)"] },
            Way(testDescription: "a host") { $0.fields = ["Host": "\($1).test"] },
            Way(testDescription: "a jar of cookies") { configuration, user in
                let jar = CookieJar()
                try jar.set(HTTP.Cookie(name: "user", value: user, domain: "a.test"))
                configuration.cookies = jar
            },
            Way(testDescription: "a handler") { configuration, user in
                configuration.authenticationHandler = { _ in .useCredential(.bearer(token: user)) }
            },
            Way(testDescription: "an interceptor") { configuration, user in
                configuration.interceptors = [
                    .exchange { request, next in try await next(request.with { $0.head.fields.authorize(user) }) }
                ]
            },
        ]
    }

    private static func downloader(
        _ way: Way?, _ user: String, like gallery: Gallery
    ) throws -> (HTTPSession, ImageDownloader) {
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: gallery.transport)
        configuration.basicInClearText = .allowed
        try way?.say(&configuration, user)
        let session = try HTTPSession(configuration)
        return (session, ImageDownloader(session: session, cache: gallery.cache))
    }

    @Test(arguments: Way.all) func `a cache of images gives nobody what another user's session has brought`(
        way: Way
    ) async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat")
        for (way, user) in [(way, "alice"), (way, "bob"), (Way?.none, "")] {
            let (session, downloader) = try Self.downloader(way, user, like: gallery)
            let before = gallery.targets.count
            _ = try await downloader.download(gallery.request("/cat")).image
            #expect(gallery.targets.count == before + 1)
            _ = try await downloader.download(gallery.request("/cat")).image
            #expect(gallery.targets.count == before + 1)
            await session.shutdown()
        }
    }

    /// Swift considers the values equal, and a server does not.
    @Test(arguments: ["X-Api-Key", "Authorization"])
    func `a request whose field only looks the same gets its own picture`(name: String) async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat")
        let (session, downloader) = try Self.downloader(nil, "", like: gallery)
        for (value, asked) in [("caf\u{E9}", 1), ("cafe\u{301}", 2), ("caf\u{E9}", 2)] {
            var request = gallery.request("/cat")
            request.fields.append(name: name, value: value)
            _ = try await downloader.download(request).image
            #expect(gallery.targets.count == asked)
        }
        await session.shutdown()
    }

    /// A way to the server that is not the usual one, where another server may be.
    struct OtherWay: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let take: @Sendable (inout HTTPSession.Configuration) -> Void

        static let all = [
            OtherWay(testDescription: "an address for the host") {
                $0.hostOverrides["a.test"] = .v4(0x7F00_0001, port: 1)
            },
            OtherWay(testDescription: "a Unix socket") { $0.socketPath = "/tmp/a" },
        ]
    }

    @Test(arguments: OtherWay.all) func `a picture that came by another way is shown by no other session`(
        way: OtherWay
    ) async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat")
        for isOther in [false, true, false, true] {
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: gallery.transport)
            if isOther { way.take(&configuration) }
            let session = try HTTPSession(configuration)
            let downloader = ImageDownloader(session: session, cache: gallery.cache)
            _ = try await downloader.download(gallery.request("/cat")).image
            await session.shutdown()
        }
        // One for each way.
        #expect(gallery.targets.count == 2)
    }

    @Test func `a picture of a jar from which all cookies were removed is shown no more`() async throws {
        let jar = CookieJar()
        let gallery = try Gallery(session: { $0.cookies = jar })
        try await gallery.hang("/cat")
        for count in 1...2 {
            try jar.set(HTTP.Cookie(name: "user", value: "alice", domain: "a.test"))
            _ = try await gallery.downloader.download(gallery.request("/cat")).image
            _ = try await gallery.downloader.download(gallery.request("/cat")).image
            #expect(gallery.targets.count == count)
            jar.removeAll()
        }
    }

    @Test func `requests with other cookies of the jar share no download`() async throws {
        let (jar, gate) = (CookieJar(), Gate())
        let gallery = try Gallery(session: { $0.cookies = jar })
        try await gallery.hang("/cat", behind: gate)
        var receipts: [ImageDownloader.Receipt] = []
        for (user, sent) in [("alice", 1), ("bob", 2), ("bob", 2)] {
            try jar.set(HTTP.Cookie(name: "user", value: user, domain: "a.test"))
            receipts.append(try await gallery.downloader.download(gallery.request("/cat")))
            _ = try await gallery.transport.waitForRequests(sent)
        }
        try await gate.open()
        for receipt in receipts { _ = try await receipt.image }
        #expect(gallery.transport.requests.map { $0.fields["cookie"] } == ["user=alice", "user=bob"])
    }

    @Test func `nobody joins a download that began before the jar's cookies changed, though they are back`()
        async throws
    {
        let jar = CookieJar()
        let (begun, sent, answer) = (LoopbackServer.Gate(), LoopbackServer.Gate(), LoopbackServer.Gate())
        let gallery = try Gallery(session: {
            $0.cookies = jar
            $0.interceptors = [
                .call { request, next in
                    begun.open()
                    try await sent.opened()
                    return try await next(request)
                }
            ]
        })
        let pictures = ["user=alice": try await Pictures.png(number: 1), "user=bob": try await Pictures.png(number: 2)]
        gallery.transport.otherwise { request in
            try await answer.opened()
            let picture = try #require(pictures[request.fields["cookie"] ?? ""])
            return .respond(fields: ["Content-Type": "image/png"], body: picture)
        }
        func become(_ user: String) throws {
            try jar.set(HTTP.Cookie(name: "user", value: user, domain: "a.test"))
        }
        try become("alice")
        let first = try await gallery.downloader.download(gallery.request("/cat"))
        try await begun.opened()
        try become("bob")
        sent.open()
        _ = try await gallery.transport.waitForRequests(1)
        try become("alice")
        let joined = try await gallery.downloader.download(gallery.request("/cat"))
        answer.open()
        // The first has what its request brought, and is given to nobody else.
        #expect(Pictures.number(try await first.image) == 2)
        #expect(Pictures.number(try await joined.image) == 1)
        #expect(gallery.transport.requests.map { $0.fields["cookie"] } == ["user=bob", "user=alice"])
    }

    @Test func `a picture that came over another transport is shown by no other session`() async throws {
        let galleries = [try Gallery(), try Gallery()]
        for (index, gallery) in galleries.enumerated() { try await gallery.hang("/cat", number: UInt8(index + 1)) }
        for index in [0, 1, 0, 1] {
            let session = try HTTPSession(
                .init(baseURL: "http://a.test", transport: galleries[index].transport))
            let downloader = ImageDownloader(session: session, cache: galleries[0].cache)
            let picture = try await downloader.download(galleries[index].request("/cat")).image
            #expect(Pictures.number(picture) == UInt8(index + 1))
            await session.shutdown()
        }
        #expect(galleries.map(\.targets.count) == [1, 1])
    }

    @Test func `a picture that another resolver led to is shown by no other session`() async throws {
        struct Leading: Resolver {
            let address: HTTP.SocketAddress
            func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress] { [address] }
        }
        let gallery = try Gallery()
        for number in [1, 2] as [UInt8] {
            let (server, png) = (try LoopbackServer(), try await Pictures.png(number: number))
            server.respond { _ in .response(fields: ["Content-Type": "image/png"], body: png) }
            let session = try HTTPSession(baseURL: "http://a.test:8080") {
                $0.resolver = Leading(address: .v4(0x7F00_0001, port: server.port))
                $0.proxy = .none
            }
            let downloader = ImageDownloader(session: session, cache: gallery.cache)
            #expect(Pictures.number(try await downloader.image("http://a.test:8080/cat")) == number)
            await session.shutdown()
        }
    }

    @Test func `sessions that say nothing of a user share a cache of images`() async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat")
        for _ in 0..<2 {
            let (session, downloader) = try Self.downloader(nil, "", like: gallery)
            _ = try await downloader.download(gallery.request("/cat")).image
            await session.shutdown()
        }
        #expect(gallery.targets == ["/cat"])
    }

    @Test func `a session whose credentials are replaced asks again`() async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat")
        let (session, downloader) = try Self.downloader(Way.all[0], "alice", like: gallery)
        _ = try await downloader.download(gallery.request("/cat")).image
        try session.replace(credentials: .basic(user: "bob", password: "secret"))
        #expect(downloader.imageInMemory(for: gallery.request("/cat")) == nil)
        _ = try await downloader.download(gallery.request("/cat")).image
        #expect(gallery.targets == ["/cat", "/cat"])
        await session.shutdown()
    }

    @Test func `users of URLs share no picture, though the program says that it is the same`() async throws {
        let gallery = try Gallery({ $0.identity = { _ in "me" } }, session: { $0.basicInClearText = .allowed })
        gallery.transport.otherwise { request in
            guard let says = request.fields["authorization"] else {
                return .respond(401, fields: ["WWW-Authenticate": "Basic realm=r"])
            }
            return .respond(
                fields: ["Content-Type": "image/png"],
                body: try await Pictures.png(number: says == "Basic YTph" ? 1 : 2))
        }
        for (user, number) in [("a", 1), ("b", 2), ("a", 1)] as [(String, UInt8)] {
            let image = try await gallery.downloader.image(.url("http://\(user):\(user)@a.test/me.png"))
            #expect(Pictures.number(image) == number)
        }
    }

    @Test func `a session whose own cookie is replaced asks again`() async throws {
        let gallery = try Gallery(session: { $0.originFields = ["Cookie": "user=alice"] })
        try await gallery.hang("/cat")
        _ = try await gallery.downloader.download(gallery.request("/cat")).image
        try gallery.session.replace(originFields: ["Cookie": "user=bob"])
        #expect(gallery.downloader.imageInMemory(for: gallery.request("/cat")) == nil)
        _ = try await gallery.downloader.download(gallery.request("/cat")).image
        #expect(gallery.transport.requests.map { $0.fields["cookie"] } == ["user=alice", "user=bob"])
    }

    @Test func `a picture that came while the user changed is kept for who asked for it`() async throws {
        let (gallery, gate) = (try Gallery(), Gate())
        try await gallery.hang("/cat", behind: gate)
        let (session, downloader) = try Self.downloader(Way.all[0], "alice", like: gallery)
        let receipt = try await downloader.download(gallery.request("/cat"))
        _ = try await gallery.transport.waitForRequests(1)
        try session.replace(credentials: .basic(user: "bob", password: "secret"))
        try await gate.open()
        _ = try await receipt.image
        #expect(downloader.imageInMemory(for: gallery.request("/cat")) == nil)
        try session.replace(credentials: .basic(user: "alice", password: "secret"))
        #expect(downloader.imageInMemory(for: gallery.request("/cat")) != nil)
        await session.shutdown()
    }

    @Test func `a picture that a session with other trust has brought is shown by no other`() async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat")
        let root = try CertificateAuthority().certificate.der
        let trusting = Way(testDescription: "trust") { configuration, _ in
            configuration.tls.roots = .only([.bytes(root)])
        }
        for way in [trusting, nil] {
            let (session, downloader) = try Self.downloader(way, "", like: gallery)
            #expect(downloader.imageInMemory(for: ImageDownloader.Request("https://a.test/cat")) == nil)
            _ = try await downloader.download(ImageDownloader.Request("https://a.test/cat")).image
            await session.shutdown()
        }
        #expect(gallery.targets == ["/cat", "/cat"])
    }

    @Test(arguments: ["X-Api-Key", "X-Monkey", "Proxy-Authorization", "Host"], [false, true])
    func `requests that say another user by a field share no download`(name: String, hasIdentity: Bool) async throws {
        let gallery = try Gallery { if hasIdentity { $0.identity = { _ in "the same" } } }
        try await gallery.hang("/cat")
        for user in ["alice", "bob"] {
            let request = gallery.request("/cat") { $0.fields = [name: user] }
            _ = try await gallery.downloader.download(request).image
        }
        #expect(gallery.targets == ["/cat", "/cat"])
    }

    @Test func `a guarded session is shown no picture that another brought from where it may not go`() async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat")
        var request = gallery.request("/cat")
        request.target = .url("http://127.0.0.1/cat")
        _ = try await gallery.downloader.download(request).image
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: gallery.transport)
        configuration.guard = .publicInternet
        let session = try HTTPSession(configuration)
        let downloader = ImageDownloader(session: session, cache: gallery.cache)
        #expect(downloader.imageInMemory(for: request) == nil)
        let error = await #expect(throws: NetworkError.self) { try await downloader.download(request).image }
        #expect(error?.code == .guardRefused)
        #expect(gallery.targets == ["/cat"])
        await session.shutdown()
    }
}
