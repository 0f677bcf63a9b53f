import Dunlin
import DunlinTesting
import Testing

@testable import DunlinImages
@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Images whose URL is invalidated` {
    private static let fields: Fields = [
        "Content-Type": "image/png", "ETag": "\"1\"", "Cache-Control": "max-age=60",
    ]

    /// A gallery with an HTTP cache, and their clock.
    private static func cached(
        _ clock: ManualClock, _ change: (inout ImageDownloader.Configuration) -> Void = { _ in }
    ) throws -> Gallery {
        let (start, begun) = (Int64(1_000_000), clock.now)
        let plain = HTTPSession.Cache(.standard)
        return try Gallery(clock: clock, change) {
            $0.cache = HTTPSession.Cache(plain.store, plain.rules) {
                start + begun.duration(to: clock.now).components.seconds
            }
        }
    }

    /// Invalidates a URL. What was asked for in the same second counts as asked for before.
    private static func invalidate(_ url: String, _ gallery: Gallery, _ clock: ManualClock) async throws {
        try await gallery.downloader.invalidate(url)
        try await clock.advance(by: .seconds(1))
    }

    private static func inMemory(_ gallery: Gallery) -> UInt8? {
        gallery.downloader.imageInMemory(for: gallery.request("/cat")).map(Pictures.number)
    }

    @Test func `a 304 that comes after its URL was invalidated puts nothing back into memory`() async throws {
        let clock = ManualClock()
        let (gallery, gate) = (try Gallery(clock: clock), Gate())
        let (old, new) = (try await Pictures.png(number: 7), try await Pictures.png(number: 8))
        gallery.transport.on(.get, "/cat").respond(fields: Self.fields, body: old)
        gallery.transport.otherwise { request in
            if request.fields["If-None-Match"] == nil { return .respond(fields: Self.fields, body: new) }
            try await gate.pass()
            return .respond(304)
        }
        _ = try await gallery.downloader.image("http://a.test/cat")
        try await clock.advance(by: .seconds(60))
        let receipt = try await gallery.downloader.download(gallery.request("/cat"))
        try await gallery.transport.waitForRequests(2)
        try await gallery.downloader.invalidate("http://a.test/cat")
        try await gate.open()
        // Whoever asked before is answered.
        let response = try await receipt.response
        #expect(response.source == .confirmedMemory)
        #expect(response.picture.map(Pictures.number) == 7)
        #expect(gallery.cache.count == 0)
        let later = try await gallery.downloader.response(for: gallery.request("/cat"))
        #expect(later.source == .network)
        #expect(later.picture.map(Pictures.number) == 8)
    }

    @Test func `whoever asks after a URL was invalidated does not share what is on its way`() async throws {
        let (gallery, gate) = (try Gallery(), Gate())
        let (old, new) = (try await Pictures.png(number: 7), try await Pictures.png(number: 8))
        let slow = MockTransport.Outcome.stream(fields: Self.fields, length: old.count) { index in
            if index == 0 { try await gate.pass() }
            return index == 0 ? old : nil
        }
        gallery.transport.on(.get, "/cat").reply(slow).thenRespond(fields: Self.fields, body: new)
        let early = try await gallery.downloader.download(gallery.request("/cat"))
        try await gallery.transport.waitForRequests()
        try await gallery.downloader.invalidate("http://a.test/cat")
        let late = try await gallery.downloader.download(gallery.request("/cat"))
        let active = await gallery.downloader.active
        try #require(active == 2)
        #expect(Pictures.number(try await late.image) == 8)
        try await gate.open()
        #expect(Pictures.number(try await early.image) == 7)
        #expect(Self.inMemory(gallery) == 8)
        #expect(gallery.targets.count == 2)
        #expect(await gallery.downloader.isIdle)
    }

    @Test func `what had not begun when its URL was invalidated is asked for whole, and kept`() async throws {
        let clock = ManualClock()
        let (gallery, gate) = (try Gallery(clock: clock) { $0.maximumActive = 1 }, Gate())
        gallery.transport.on(.get, "/cat").respond(fields: Self.fields, body: try await Pictures.png(number: 7))
            .thenRespond(fields: Self.fields, body: try await Pictures.png(number: 8))
        try await gallery.hang("/first", behind: gate)
        _ = try await gallery.downloader.image("http://a.test/cat")
        try await clock.advance(by: .seconds(60))
        let first = try await gallery.downloader.download(gallery.request("/first"))
        let queued = try await gallery.downloader.download(gallery.request("/cat"))
        try await gallery.downloader.invalidate("http://a.test/cat")
        let joined = try await gallery.downloader.download(gallery.request("/cat"))
        try await gate.open()
        for receipt in [queued, joined] { #expect(Pictures.number(try await receipt.image) == 8) }
        _ = try await first.image
        #expect(gallery.targets == ["/cat", "/first", "/cat"])
        #expect(gallery.transport.requests[2].fields["If-None-Match"] == nil)
        #expect(Self.inMemory(gallery) == 8)
    }

    /// A session with an HTTP cache, over a server whose `/cat` leads to `/one`, and has a new picture each time.
    private static func redirected(
        _ clock: ManualClock, _ redirect: Fields = [:], failing: Bool = false
    ) async throws -> Gallery {
        let gallery = try cached(clock)
        gallery.transport.on(.get, "/cat").respond(302, fields: redirect.overlaid(with: ["Location": "/one"])).always()
        let (old, new) = (try await Pictures.png(number: 7), try await Pictures.png(number: 8))
        let first = gallery.transport.on(.get, "/one").respond(fields: fields, body: old)
        let second = failing ? first.thenFail(.connectionReset) : first
        second.thenRespond(fields: fields, body: new).thenRespond(fields: fields, body: old)
        return gallery
    }

    private static func picture(_ gallery: Gallery) async throws -> (number: UInt8?, fromNetwork: Bool) {
        let request = gallery.request("/cat") { $0.memory = .skip }
        let response = try await gallery.downloader.response(for: request)
        return (response.picture.map(Pictures.number), response.source == .network)
    }

    @Test(arguments: [[:], ["Cache-Control": "max-age=60"]] as [Fields])
    func `what an invalidated URL leads to comes from its server once more, and then from the cache`(
        redirect: Fields
    ) async throws {
        let clock = ManualClock()
        let gallery = try await Self.redirected(clock, redirect)
        for (number, fromNetwork) in [(7, true), (7, false)] as [(UInt8, Bool)] {
            let picture = try await Self.picture(gallery)
            #expect(picture.number == number && picture.fromNetwork == fromNetwork)
        }
        try await Self.invalidate("http://a.test/cat", gallery, clock)
        for (number, fromNetwork) in [(8, true), (8, false)] as [(UInt8, Bool)] {
            let picture = try await Self.picture(gallery)
            #expect(picture.number == number && picture.fromNetwork == fromNetwork)
        }
        #expect(gallery.targets.count { $0 == "/one" } == 2)
    }

    @Test func `a request that fails after its URL was invalidated leaves the next one to ask`() async throws {
        let clock = ManualClock()
        let gallery = try await Self.redirected(clock, failing: true)
        _ = try await Self.picture(gallery)
        try await Self.invalidate("http://a.test/cat", gallery, clock)
        await #expect(throws: NetworkError.self) { try await Self.picture(gallery) }
        let picture = try await Self.picture(gallery)
        #expect(picture.number == 8 && picture.fromNetwork)
    }

    @Test func `a response requested before its URL was invalidated does not replace a later one`() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let gallery = try Self.cached(clock)
        let old = try await Pictures.png(number: 7)
        let slow = MockTransport.Outcome.stream(fields: Self.fields, length: old.count) { index in
            if index == 0 { try await gate.pass() }
            return index == 0 ? old : nil
        }
        gallery.transport.on(.get, "/cat").respond(302, fields: ["Location": "/one"]).always()
        gallery.transport.on(.get, "/one").reply(slow)
            .thenRespond(fields: Self.fields, body: try await Pictures.png(number: 8))
            .thenRespond(fields: Self.fields, body: try await Pictures.png(number: 9))
        let early = try await gallery.downloader.download(gallery.request("/cat"))
        try await gallery.transport.waitForRequests(2)
        try await Self.invalidate("http://a.test/cat", gallery, clock)
        let reload = try await Self.picture(gallery)
        #expect(reload.number == 8 && reload.fromNetwork)
        // It ends last.
        try await gate.open()
        #expect(Pictures.number(try await early.image) == 7)
        for _ in 0..<2 {
            let picture = try await Self.picture(gallery)
            #expect(picture.number == 8 || picture.number == 9)
        }
    }

    @Test func `URLs of one identity that was invalidated are asked for each`() async throws {
        let clock = ManualClock()
        let gallery = try Self.cached(clock) { $0.identity = { _ in "cat" } }
        for path in ["/one", "/two"] { try await gallery.hang(path, fields: Self.fields) }
        func isFromNetwork(_ path: String) async throws -> Bool {
            let request = gallery.request(path) { $0.memory = .skip }
            return try await gallery.downloader.response(for: request).source == .network
        }
        for path in ["/one", "/two"] { #expect(try await isFromNetwork(path)) }
        try await Self.invalidate("cat", gallery, clock)
        for path in ["/one", "/two"] { #expect(try await isFromNetwork(path)) }
        for path in ["/one", "/two"] { #expect(try await !isFromNetwork(path)) }
    }

    @Test func `any success answers for an invalidated URL, and is kept`() async throws {
        let clock = ManualClock()
        let gallery = try Self.cached(clock)
        let png = try await Pictures.png()
        gallery.transport.on(.get, "/cat").respond(203, fields: Self.fields, body: png).always()
        try await Self.invalidate("http://a.test/cat", gallery, clock)
        for fromNetwork in [true, false] { #expect(try await Self.picture(gallery).fromNetwork == fromNetwork) }
    }
}
