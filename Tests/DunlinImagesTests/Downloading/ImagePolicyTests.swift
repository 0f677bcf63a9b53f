import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct `Where an image comes from` {
    private static func source(_ gallery: Gallery, _ change: (inout ImageDownloader.Request) -> Void = { _ in })
        async throws -> ImageDownloader.Response.Source
    {
        try await gallery.downloader.response(for: gallery.request("/cat", change)).source
    }

    @Test(.rows("ID-5", "ID-7")) func `an image that is in memory is there without a request or a response`()
        async throws
    {
        let gallery = try Gallery()
        try await gallery.hang("/cat", number: 7)
        #expect(try await Self.source(gallery) == .network)
        let again = try await gallery.downloader.response(for: gallery.request("/cat"))
        #expect(again.source == .memory)
        #expect(again.head == nil)
        #expect(again.content == nil)
        #expect(again.picture.map(Pictures.number) == 7)
        #expect(gallery.targets.count == 1)
        #expect(gallery.downloader.imageInMemory(for: gallery.request("/cat")) != nil)
        #expect(gallery.downloader.imageInMemory(for: gallery.request("/dog")) == nil)
    }

    @Test(.rows("ID-5")) func `a request that shares a download is not answered from memory`() async throws {
        let (gallery, gate) = (try Gallery(), Gate())
        try await gallery.hang("/cat", number: 7, behind: gate)
        let first = try await gallery.downloader.download(gallery.request("/cat"))
        let key = try gallery.key("/cat")
        gallery.cache.add(StoredImage(try Pictures.buffer(1, 1, number: 1)), for: key, since: 0)
        let second = try await gallery.downloader.download(gallery.request("/cat"))
        #expect(!second.isOver)
        try await gate.open()
        _ = try await first.image
        #expect(Pictures.number(try await second.image) == 7)
    }

    @Test(
        .rows("ID-7", "ID-8"),
        arguments: [
            (.session, nil, ImageDownloader.Response.Source.memory, 1), (.reloading, nil, .network, 2),
            (.off, nil, .network, 2),
            (.validating, nil, .network, 2), (.preferringStored, nil, .memory, 1), (.storedOnly, nil, .memory, 1),
            (.reloading, .fresh, .memory, 1), (.session, .reload, .network, 2), (.session, .skip, .network, 1),
        ]
            as [(
                HTTPSession.PerRequest<HTTPSession.CacheMode>, ImageDownloader.MemoryUse?,
                ImageDownloader.Response.Source, UInt8
            )])
    func `a policy counts for the cache of images as well, unless it has its own`(
        mode: HTTPSession.PerRequest<HTTPSession.CacheMode>, memory: ImageDownloader.MemoryUse?,
        source: ImageDownloader.Response.Source, stored: UInt8
    ) async throws {
        let gallery = try Gallery()
        for number in [1, 2] as [UInt8] {
            gallery.transport.on(.get, "/cat").respond(
                fields: ["Content-Type": "image/png"], body: try await Pictures.png(number: number))
        }
        #expect(try await Self.source(gallery) == .network)
        #expect(try await Self.source(gallery) { ($0.cacheMode, $0.memory) = (mode, memory) } == source)
        // What came is stored though what was there was not looked at.
        #expect(gallery.cache.images(for: try gallery.key("/cat")).map { Pictures.number($0.image) } == [stored])
    }

    @Test(.rows("ID-9")) func `a request that may not use the network opens no connection`() async throws {
        for session in [false, true] {
            let gallery = try Gallery(session: { if session { $0.cache = HTTPSession.Cache(.small) } })
            let error = try await networkError { _ = try await Self.source(gallery) { $0.usesNetwork = false } }
            #expect(error?.code == .notCached)
            let other = try await networkError { _ = try await Self.source(gallery) { $0.cacheMode = .storedOnly } }
            #expect(other?.code == .notCached)
            #expect(gallery.targets.isEmpty)
            #expect(await gallery.downloader.isIdle)
        }
    }

    @Test(.rows("ID-1", "IC-16")) func `the disk level is the HTTP cache of the session`() async throws {
        let gallery = try Gallery(session: { $0.cache = HTTPSession.Cache(.small) })
        try await gallery.hang("/cat", fields: ["Cache-Control": "max-age=3600"])
        #expect(try await Self.source(gallery) == .network)
        gallery.cache.removeAll()
        #expect(try await Self.source(gallery) { $0.usesNetwork = false } == .httpCache)
        #expect(try await Self.source(gallery) == .memory)
        try await gallery.downloader.invalidate("http://a.test/cat")
        #expect(
            try await networkError { _ = try await Self.source(gallery) { $0.usesNetwork = false } }?.code == .notCached
        )
        #expect(try await Self.source(gallery) == .network)
        #expect(gallery.targets.count == 2)
    }

    @Test(.rows("ID-11")) func `a cache may refuse an image, and an image that may not be stored is not`() async throws
    {
        final class Choosy: ImageRequestCache {
            let cache: AutoPurgingImageCache
            /// However little memory the machine has left.
            init() throws {
                cache = try AutoPurgingImageCache(capacity: 1 << 20, preferredUsage: 1 << 19, pressure: nil)
            }
            func shouldCache(_ image: ImageBuffer, for key: ImageKey) -> Bool { key.url.hasSuffix("keep") }
            func removals(of url: String) -> UInt64 { cache.removals(of: url) }
            func images(for key: ImageKey) -> [StoredImage] { cache.images(for: key) }
            func add(_ image: StoredImage, for key: ImageKey, since removals: UInt64) -> Bool {
                cache.add(image, for: key, since: removals)
            }
            func removeImage(for key: ImageKey) -> Bool { cache.removeImage(for: key) }
            func invalidate(_ url: String) -> Int { cache.invalidate(url) }
            func image(for identifier: String) -> ImageBuffer? { nil }
            func add(_ image: ImageBuffer, for identifier: String) -> Bool { false }
            func removeImage(for identifier: String) -> Bool { false }
            func removeAll() -> Bool { cache.removeAll() }
        }
        let gallery = try Gallery()
        try await gallery.hang("/keep")
        try await gallery.hang("/leave")
        try await gallery.hang("/secret/keep", fields: ["Cache-Control": "no-store"])
        let cache = try Choosy()
        let downloader = ImageDownloader(session: gallery.session, cache: cache)
        for path in ["keep", "leave", "secret/keep"] { _ = try await downloader.image(.url(path)) }
        #expect(cache.cache.count == 1)
        #expect(cache.images(for: try gallery.key("/keep")).count == 1)
    }

    @Test func `an expired image is revalidated, and a 304 renews it`() async throws {
        let clock = ManualClock()
        let gallery = try Gallery(clock: clock)
        let fields: Fields = ["Content-Type": "image/png", "ETag": "\"1\"", "Cache-Control": "max-age=60"]
        let png = try await Pictures.png(number: 7)
        gallery.transport.on(.get, "/cat").respond(fields: fields, body: png)
            .thenRespond(304, fields: ["Cache-Control": "max-age=60"])
            .thenRespond(fields: fields, body: try await Pictures.png(number: 8))
        #expect(try await Self.source(gallery) == .network)
        try await clock.advance(by: .seconds(60))
        // Old is good enough for who says so.
        #expect(try await Self.source(gallery) { $0.memory = .any } == .memory)
        let confirmed = try await gallery.downloader.response(for: gallery.request("/cat"))
        #expect(confirmed.source == .confirmedMemory)
        #expect(confirmed.picture.map(Pictures.number) == 7)
        #expect(gallery.transport.requests[1].fields["If-None-Match"] == "\"1\"")
        #expect(try await Self.source(gallery) == .memory)
        let changed = try await gallery.downloader.response(for: gallery.request("/cat") { $0.memory = .validated })
        #expect(changed.source == .network)
        #expect(changed.picture.map(Pictures.number) == 8)
        #expect(gallery.transport.requests[2].fields["If-None-Match"] == "\"1\"")
    }

    @Test func `a 304 that does not answer everybody is followed by a whole request`() async throws {
        let clock = ManualClock()
        let (gallery, gate) = (try Gallery(clock: clock), Gate())
        let fields: Fields = ["Content-Type": "image/png", "ETag": "\"1\"", "Cache-Control": "max-age=60"]
        let png = try await Pictures.png(number: 7)
        gallery.transport.otherwise { request in
            if request.fields["If-None-Match"] == nil { return .respond(fields: fields, body: png) }
            try await gate.pass()
            return .respond(304)
        }
        #expect(try await Self.source(gallery) == .network)
        try await clock.advance(by: .seconds(60))
        let plain = try await gallery.downloader.download(gallery.request("/cat"))
        let round = try await gallery.downloader.download(
            gallery.request("/cat") { $0.filters = [.roundCorners(radius: 1)] })
        try await gate.open()
        #expect(Pictures.number(try await plain.image) == 7)
        #expect(try await round.image.width == 4)
        #expect(gallery.targets.count == 3)
    }
}
