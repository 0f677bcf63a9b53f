import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@testable import DunlinImages

@Suite struct `An image that stopped midway` {
    /// A picture of some length, half of which comes at once.
    private struct Halves {
        let whole: Bytes
        let half: Int

        init(number: UInt8 = 7) async throws {
            whole = try await ImageEncoder().png(try Pictures.buffer(32, 32, number: number))
            half = whole.count / 2
        }

        /// The first half, and then nothing.
        func cut(_ fields: Fields) -> MockTransport.Outcome {
            let (whole, half) = (whole, half)
            return .stream(fields: fields, length: whole.count) { index in
                if index == 0 { return whole[0..<half] }
                try await Gate().pass()
                return nil
            }
        }

        func rest(_ fields: Fields, from start: Int? = nil) -> MockTransport.Outcome {
            let half = start ?? half
            let range: Fields = ["Content-Range": "bytes \(half)-\(whole.count - 1)/\(whole.count)"]
            return .stream(
                [whole[half..<whole.count]], status: 206, fields: fields.overlaid(with: range),
                length: whole.count - half)
        }
    }

    private static let fields: Fields = ["Content-Type": "image/png", "ETag": "\"1\""]

    /// Asks for the picture, and leaves when half of it is there.
    private static func stop(_ gallery: Gallery) async throws {
        let receipt = try await gallery.downloader.download(gallery.request("/cat"))
        for await progress in receipt.progress where progress.completed > 0 { break }
        await receipt.cancel()
        try await eventually("it has ended") { await gallery.downloader.isIdle }
    }

    @Test func `an image that stopped midway continues where it stopped when it is asked for again`() async throws {
        let (gallery, halves) = (try Gallery(), try await Halves())
        gallery.transport.on(.get, "/cat").reply(halves.cut(Self.fields)).reply(halves.rest(Self.fields))
        try await Self.stop(gallery)
        let receipt = try await gallery.downloader.download(gallery.request("/cat"))
        #expect(Pictures.number(try await receipt.image) == 7)
        let sent = gallery.transport.requests[1].fields
        #expect(sent["Range"] == "bytes=\(halves.half)-")
        #expect(sent["If-Range"] == "\"1\"")
        #expect(try await receipt.response.content?.bytes == halves.whole)
        #expect(await gallery.downloader.parts.usage == 0)
    }

    @Test func `an image that stopped midway begins anew once the session's own cookie is another user's`() async throws
    {
        let (alices, bobs) = (try await Halves(), try await Halves(number: 8))
        let gallery = try Gallery(session: { $0.originFields = ["Cookie": "user=alice"] })
        gallery.transport.on(.get, "/cat").reply(alices.cut(Self.fields))
            .reply(.respond(fields: Self.fields, body: bobs.whole))
        try await Self.stop(gallery)
        try gallery.session.replace(originFields: ["Cookie": "user=bob"])
        #expect(Pictures.number(try await gallery.downloader.download(gallery.request("/cat")).image) == 8)
        #expect(gallery.transport.requests.map { $0.fields["cookie"] } == ["user=alice", "user=bob"])
        #expect(gallery.transport.requests[1].fields["range"] == nil)
    }

    /// A password is not sent before a server asks for it, and a jar has no cookies before a login.
    @Test(arguments: [true, false]) func `an image that stopped midway begins anew after a login`(byPassword: Bool)
        async throws
    {
        let (nobodys, adas) = (try await Halves(), try await Halves(number: 8))
        let gallery = try Gallery(session: {
            $0.basicInClearText = .allowed
            if byPassword {
                $0.credentials = .password(user: "ada", password: "hunter2")
            } else {
                $0.cookies = CookieJar()
            }
        })
        gallery.transport.on(.get, "/cat").reply(nobodys.cut(Self.fields)).reply(adas.rest(Self.fields))
            .reply(.respond(fields: Self.fields, body: adas.whole))
        gallery.transport.on(.get, "/login").respond(
            byPassword ? 401 : 200,
            fields: ["WWW-Authenticate": #"Basic realm="r""#, "Set-Cookie": "user=ada"]
        ).thenRespond(body: "in")
        try await Self.stop(gallery)
        _ = try await gallery.session.get("login", as: .bytes)
        #expect(Pictures.number(try await gallery.downloader.download(gallery.request("/cat")).image) == 8)
        #expect(gallery.transport.requests.last?.fields["range"] == nil)
    }

    /// The handler says another user while the rest is on its way: what both were sent has one tag.
    @Test func `the rest of an image is not joined to what another user was sent`() async throws {
        let pictures = ["alice": try await Halves(), "bob": try await Halves(number: 8)]
        let user = Mutex("alice")
        let (asked, answer) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        let gallery = try Gallery(session: {
            $0.basicInClearText = .allowed
            $0.authenticationHandler = { _ in
                .useCredential(.password(user: user.withLock(\.self), password: ""))
            }
        })
        let names = ["Basic YWxpY2U6": "alice", "Basic Ym9iOg==": "bob"]
        gallery.transport.otherwise { request in
            let challenge = MockTransport.Outcome.respond(401, fields: ["WWW-Authenticate": "Basic realm=r"])
            guard let name = names[request.fields["authorization"] ?? ""], let halves = pictures[name] else {
                return challenge
            }
            guard request.fields.contains("range") else {
                return name == "alice" ? halves.cut(Self.fields) : .respond(fields: Self.fields, body: halves.whole)
            }
            if name == "bob" { return halves.rest(Self.fields, from: pictures["alice"]?.half) }
            asked.open()
            try await answer.opened()
            return challenge
        }
        try await Self.stop(gallery)
        let receipt = try await gallery.downloader.download(gallery.request("/cat"))
        try await asked.opened()
        user.withLock { $0 = "bob" }
        gallery.session.forgetPasswords()
        answer.open()
        #expect(try await receipt.response.content?.bytes == pictures["bob"]?.whole)
        #expect(Pictures.number(try await receipt.image) == 8)
        let sent = gallery.transport.requests.suffix(2).map(\.fields)
        #expect(sent.map { $0.contains("range") } == [true, false])
    }

    @Test func `the rest that went as another user is not joined though the former one is back`() async throws {
        let pictures = ["Basic YWxpY2U6": try await Halves(), "Basic Ym9iOg==": try await Halves(number: 8)]
        let (asked, answer) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        let gallery = try Gallery(session: {
            $0.basicInClearText = .allowed
            $0.credentials = .basic(user: "alice", password: "")
        })
        let alice = try #require(pictures["Basic YWxpY2U6"])
        gallery.transport.otherwise { request in
            let halves = try #require(pictures[request.fields["authorization"] ?? ""])
            guard request.fields.contains("range") else { return .respond(fields: Self.fields, body: halves.whole) }
            asked.open()
            try await answer.opened()
            return halves.rest(Self.fields, from: alice.half)
        }
        let transfer = ImageTransfer(
            session: gallery.session, request: gallery.request("/cat"), accept: nil, limit: .max,
            url: "http://a.test/cat", user: gallery.session.asker, cookies: nil)
        let head = ResponseHead(status: .ok, fields: Self.fields)
        let part = try #require(PartialImage(alice.whole[0..<alice.half], of: head, from: nil))
        try gallery.session.replace(credentials: .basic(user: "bob", password: ""))
        async let ending = transfer.run(part, nil, { _ in }, differs: { _ in false })
        try await asked.opened()
        try gallery.session.replace(credentials: .basic(user: "alice", password: ""))
        answer.open()
        guard case .whole(let response, _) = await ending else {
            Issue.record("it must be whole")
            return
        }
        #expect(response.body == alice.whole)
        #expect(gallery.transport.requests.map { $0.fields.contains("range") } == [true, false])
    }

    @Test func `an image that has changed meanwhile, or whose rest is not sent, is downloaded from the beginning`()
        async throws
    {
        let halves = try await Halves()
        let other = try await Pictures.png(number: 8)
        let whole = MockTransport.Outcome.respond(fields: ["Content-Type": "image/png", "ETag": "\"2\""], body: other)
        let wrong: Fields = ["Content-Range": "bytes 0-9/10", "ETag": "\"1\""]
        for answers in [
            [whole], [.respond(416), whole], [.stream(["0123456789"], status: 206, fields: wrong, length: 10), whole],
            [
                .stream([other], status: 206, fields: ["Content-Range": "bytes \(halves.half)-/*", "ETag": "\"1\""]),
                whole,
            ],
        ] as [[MockTransport.Outcome]] {
            let gallery = try Gallery()
            var route = gallery.transport.on(.get, "/cat").reply(halves.cut(Self.fields))
            for answer in answers { route = route.reply(answer) }
            try await Self.stop(gallery)
            #expect(Pictures.number(try await gallery.downloader.image("http://a.test/cat")) == 8)
            #expect(gallery.targets.count == answers.count + 1)
            if answers.count > 1 { #expect(gallery.transport.requests[2].fields["Range"] == nil) }
        }
    }

    @Test(arguments: [("/one", 7, 4), ("/two", 8, 6)] as [(String, UInt8, Int)])
    func `an image continues only if redirects lead to where its beginning came from`(
        location: String, number: UInt8, count: Int
    ) async throws {
        let (gallery, halves) = (try Gallery(), try await Halves())
        gallery.transport.on(.get, "/cat").respond(302, fields: ["Location": "/one"])
            .thenRespond(302, fields: ["Location": location]).always()
        gallery.transport.on(.get, "/one").reply(halves.cut(Self.fields))
        // Its tag is the same by chance, and so is its length.
        gallery.transport.on(.get, location).reply(halves.rest(Self.fields))
            .thenRespond(fields: Self.fields, body: try await Pictures.png(number: 8))
        try await Self.stop(gallery)
        #expect(Pictures.number(try await gallery.downloader.image("http://a.test/cat")) == number)
        let requests = gallery.transport.requests
        try #require(requests.count == count)
        #expect(requests[3].fields["If-Range"] == "\"1\"")
        if location == "/two" { #expect(requests[5].fields["Range"] == nil) }
    }

    @Test(arguments: [["ETag": "W/\"1\""], [:], ["ETag": "\"1\"", "Accept-Ranges": "none"]] as [Fields])
    func `the beginning of an image without a strong validator is not kept`(fields: Fields) async throws {
        let (gallery, halves) = (try Gallery(), try await Halves())
        gallery.transport.on(.get, "/cat").reply(
            halves.cut(fields.overlaid(with: ["Content-Type": "image/png"])))
        try await Self.stop(gallery)
        #expect(await gallery.downloader.parts.count == 0)
    }

    @Test func `an interrupted part is kept, and a request that fails before an answer loses nothing`() async throws {
        let (gallery, halves) = (try Gallery(), try await Halves())
        let broken = MockTransport.Outcome.stream(
            [halves.whole[0..<halves.half]], fields: Self.fields, length: halves.whole.count,
            failing: NetworkError(.connectionClosed, "gone"))
        gallery.transport.on(.get, "/cat").reply(broken).fail(.connectionReset).reply(halves.rest(Self.fields))
        for _ in 0..<2 {
            await #expect(throws: NetworkError.self) { try await gallery.downloader.image("http://a.test/cat") }
            #expect(await gallery.downloader.parts.usage == halves.half)
        }
        #expect(Pictures.number(try await gallery.downloader.image("http://a.test/cat")) == 7)
    }

    @Test func `an image continues also if the session has an HTTP cache`() async throws {
        let gallery = try Gallery(session: { $0.cache = HTTPSession.Cache(.standard) })
        let halves = try await Halves()
        let fields = Self.fields.overlaid(with: ["Cache-Control": "max-age=60"])
        gallery.transport.on(.get, "/cat").reply(halves.cut(fields))
        let whole = MockTransport.Outcome.respond(fields: fields, body: halves.whole)
        let rest = halves.rest(fields)
        gallery.transport.otherwise { $0.fields["Range"] == nil ? whole : rest }
        try await Self.stop(gallery)
        for _ in 0..<2 {
            let response = try await gallery.downloader.response(for: gallery.request("/cat") { $0.memory = .skip })
            #expect(response.content?.bytes == halves.whole)
        }
    }

    @Test func `what is kept is limited, and forgotten with its URL`() async throws {
        let halves = try await Halves()
        let tight = try Gallery { $0.resumableBytes = 10 }
        let wide = try Gallery()
        for gallery in [tight, wide] {
            gallery.transport.on(.get, "/cat").reply(halves.cut(Self.fields))
            try await Self.stop(gallery)
        }
        #expect(await tight.downloader.parts.usage == 0)
        #expect(await wide.downloader.parts.usage == halves.half)
        try await wide.downloader.invalidate("http://a.test/cat")
        #expect(await wide.downloader.parts.usage == 0)
    }

    @Test(.rows("ID-24")) func `progress is told to each receipt, to late ones too, and says what was resumed`()
        async throws
    {
        let (gallery, halves, gate) = (try Gallery(), try await Halves(), Gate())
        let (whole, half) = (halves.whole, halves.half)
        let slow = MockTransport.Outcome.stream(fields: Self.fields, length: whole.count) { index in
            if index == 1 { try await gate.pass() }
            return index == 0 ? whole[0..<half] : index == 1 ? whole[half..<whole.count] : nil
        }
        gallery.transport.on(.get, "/cat").reply(slow)
        let first = try await gallery.downloader.download(gallery.request("/cat"))
        var steps = first.progress.makeAsyncIterator()
        let begun = ImageDownloader.Progress(completed: half, total: whole.count, resumed: 0)
        #expect(await steps.next() == begun)
        // One who comes later hears at once how far it is.
        let second = try await gallery.downloader.download(gallery.request("/cat"))
        var later = second.progress.makeAsyncIterator()
        #expect(await later.next() == begun)
        #expect(begun.fraction.map { $0 > 0.4 && $0 < 0.6 } == true)
        try await gate.open()
        _ = try await first.image
        var last: ImageDownloader.Progress?
        while let step = await steps.next() { last = step }
        #expect(last?.completed ?? whole.count == whole.count)
        // After the end there is what was known last, or nothing, and an end.
        for await step in second.progress { #expect(step.completed == whole.count) }
    }
}
