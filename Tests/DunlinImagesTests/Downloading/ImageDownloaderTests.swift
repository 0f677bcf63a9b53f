import Dunlin
import DunlinTesting
import Folders
import LedgerRows
import Mocking
import Synchronization
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct `An image downloader` {
    @Test(.rows("ID-1", "ID-3", "UC-2")) func `a downloader's own session has AFNetworking's settings`() {
        let configuration = ImageDownloader.sessionConfiguration(caching: nil)
        #expect(configuration.cookies != nil)
        #expect(configuration.timeouts.readIdle == .seconds(60))
        #expect(configuration.timeouts.firstByte == .seconds(60))
        #expect(configuration.cacheMode == .standard)
        #expect(configuration.interfaces == .any)
        #expect(configuration.fields["Accept"] == "*/*")
        #expect(HTTPSession.Cache.Capacity.images.memory == 20 << 20)
        #expect(HTTPSession.Cache.Capacity.images.disk == 150 << 20)
        let environment = ["HOME": "/home/me", "XDG_CACHE_HOME": "/caches"]
        #expect(ImageDownloader.cacheFolder(environment, "/usr/bin/app") == "/caches/app/imagedownloader")
        #expect(
            ImageDownloader.cacheFolder(["HOME": "/home/me", "XDG_CACHE_HOME": "x"], "app")
                == "/home/me/.cache/app/imagedownloader")
        #expect(ImageDownloader.cacheFolder([:], "app") == nil)
    }

    @Test(.rows("UC-2"))
    func `a downloader's own session stores images in its folder, and the shared one has a cache too`()
        async throws
    {
        let shared = try ImageDownloader.shared.session.configuration
        #expect(shared.cache != nil && shared.cookies != nil && shared.cacheMode == .standard)
        let (folder, transport) = (Folder.unmade(), MockTransport())
        let fields: Fields = ["Content-Type": "image/png", "Cache-Control": "max-age=3600"]
        transport.on(.get, "/cat.png").respond(fields: fields, body: try await Pictures.png())
        for source in [ImageDownloader.Response.Source.network, .httpCache] {
            let cache = HTTPSession.Cache(.images, folder: folder.path)
            var configuration = ImageDownloader.sessionConfiguration(caching: cache)
            configuration.transport = transport
            // However slow the disk is, nobody gives up waiting for it.
            try configuration.use(ManualClock())
            let session = try HTTPSession(configuration)
            let downloader = ImageDownloader(session: session, cache: nil)
            let receipt = try await downloader.download(.init("http://a.test/cat.png"))
            #expect(try await receipt.response.source == source)
            await session.shutdown()
        }
        #expect(transport.requests.count == 1)
    }

    @Test(.rows("ID-2", "ID-3", "VD-11"))
    func `a downloader has AFNetworking's defaults, and all of them can be replaced`()
        throws
    {
        let session = try HTTPSession()
        let downloader = ImageDownloader(session: session)
        #expect(downloader.configuration.maximumActive == 4)
        #expect(downloader.configuration.order == .firstInFirstOut)
        #expect(downloader.configuration.unwanted == .cancel)
        #expect(downloader.configuration.serializer == ImageResponseSerializer())
        #expect(downloader.cache is AutoPurgingImageCache)
        #expect(downloader.session === session)
        #expect(ImageDownloader(session: session, cache: nil).cache == nil)
    }

    @Test(
        .rows("ID-4"),
        arguments: [
            ("", "set the session's `baseURL`"), ("http://", "names no host"), ("https:///cat", "names no host"),
            ("ftp://a.test/cat", "neither http nor https"), ("http://a test/", "host"),
            ("cat.jpg", "set the session's `baseURL`"), ("http://a.test/%zz", "two hexadecimal digits"),
            ("http://a.test:99999/cat", "the port"), ("http://user:pw@/cat", "names no host"),
        ])
    func `a text that is no URL is refused at once, with the reason`(text: String, words: String) async throws {
        let transport = MockTransport()
        let downloader = ImageDownloader(session: try HTTPSession(.init(baseURL: nil, transport: transport)))
        let error = try await networkError { _ = try await downloader.download(.init(.url(text))) }
        #expect(error?.code == .invalidRequest)
        #expect(
            error?.reason.contains(words) == true && error?.reason.contains("pw") == false, "\(error?.reason ?? "")")
        #expect(transport.requests.isEmpty)
    }

    @Test func `a target may be relative to the session's base`() async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cats/1")
        _ = try await gallery.downloader.image("cats/1")
        _ = try await gallery.downloader.image("http://a.test/cats/1#part")
        #expect(gallery.targets == ["/cats/1"])
    }

    @Test(.rows("ID-5", "ID-10")) func `all who ask for an image while it is on its way share one request`()
        async throws
    {
        let (gallery, gate) = (try Gallery(), Gate())
        try await gallery.hang("/cat", number: 7, behind: gate)
        var receipts: [ImageDownloader.Receipt] = []
        for _ in 0..<5 { receipts.append(try await gallery.downloader.download(gallery.request("/cat"))) }
        try await gallery.transport.waitForRequests()
        try await gate.open()
        for receipt in receipts { #expect(Pictures.number(try await receipt.image) == 7) }
        #expect(gallery.targets.count == 1)
        #expect(try await receipts[0].response.source == .network)
    }

    @Test(.rows("ID-10")) func `waiters go on in the order in which they came`() async throws {
        let (gallery, gate, order) = (try Gallery(), Gate(), Order())
        try await gallery.hang("/cat", behind: gate)
        var receipts: [ImageDownloader.Receipt] = []
        for _ in 0..<10 { receipts.append(try await gallery.downloader.download(gallery.request("/cat"))) }
        // Tasks on a loop go on one after the other, in the order in which they were resumed.
        try await gallery.session.onEventLoop { @concurrent [receipts] in
            await withThrowingTaskGroup { group in
                for (number, receipt) in receipts.enumerated().reversed() {
                    group.addTask { @concurrent in
                        _ = try await receipt.image
                        order.append(number)
                    }
                }
                group.addTask { @concurrent in try await gate.open() }
            }
        }
        #expect(order.numbers == Array(0..<10))
    }

    typealias Change = @Sendable (inout ImageDownloader.Request) -> Void

    private static let changes: [(Change, Int)] = [
        ({ @Sendable _ in }, 1), ({ @Sendable in $0.fields = ["X-Trace": "1"] }, 1),
        ({ @Sendable in $0.priority = .high }, 1), ({ @Sendable in $0.fields = ["X-Theme": "dark"] }, 2),
        ({ @Sendable in $0.fields = ["Accept": "image/webp"] }, 2),
        ({ @Sendable in $0.fields = ["Authorization": "Bearer x"] }, 2),
        ({ @Sendable in $0.cacheMode = .reloading }, 2),
        ({ @Sendable in $0.target = "http://a.test/cat?x" }, 2),
    ]

    @Test(.rows("ID-6"), arguments: changes)
    func `requests share a download if nothing that selects the image differs`(
        change: @escaping Change, count: Int
    ) async throws {
        let (gallery, gate) = (try Gallery(), Gate())
        try await gallery.hang("/cat", behind: gate)
        let one = try await gallery.downloader.download(gallery.request("/cat"))
        let other = try await gallery.downloader.download(gallery.request("/cat", change))
        try await gallery.transport.waitForRequests(count)
        try await gate.open()
        let responses = (try await one.response, try await other.response)
        #expect(gallery.targets.count == count)
        // Each has its own request back.
        #expect(responses.0.request == gallery.request("/cat"))
        #expect(responses.1.request == gallery.request("/cat", change))
    }

    @Test(.rows("ID-6")) func `a program may say what requests have in common`() async throws {
        let gallery = try Gallery { $0.identity = { _ in "the same" } }
        let gate = Gate()
        try await gallery.hang("/cat", behind: gate)
        let one = try await gallery.downloader.download(gallery.request("/cat?t=1"))
        let other = try await gallery.downloader.download(gallery.request("/cat?t=2"))
        try await gate.open()
        _ = (try await one.image, try await other.image)
        #expect(gallery.targets == ["/cat?t=1"])
    }

    @Test(
        .rows("ID-13", "ID-15"),
        arguments: [
            (ImageDownloader.Configuration.Order.firstInFirstOut, ["/0", "/1", "/2", "/3"]),
            (.lastInFirstOut, ["/0", "/3", "/2", "/1"]),
        ]) func `images that wait are asked for in the order that was chosen`(
            order: ImageDownloader.Configuration.Order, targets: [String]
        ) async throws
    {
        let gallery = try Gallery {
            $0.maximumActive = 1
            $0.order = order
        }
        let gate = Gate()
        for number in 0..<4 { try await gallery.hang("/\(number)", behind: gate) }
        var receipts: [ImageDownloader.Receipt] = []
        for number in 0..<4 { receipts.append(try await gallery.downloader.download(gallery.request("/\(number)"))) }
        #expect(await gallery.downloader.active == 1)
        #expect(await gallery.downloader.queued == 3)
        try await gate.open()
        for receipt in receipts { _ = try await receipt.image }
        #expect(gallery.targets == targets)
    }

    @Test func `priorities count, also when they change, and what was prefetched rises when it is wanted`()
        async throws
    {
        let (gallery, gate) = (try Gallery { $0.maximumActive = 1 }, Gate())
        for number in 0..<6 { try await gallery.hang("/\(number)", behind: gate) }
        let first = try await gallery.downloader.download(gallery.request("/0"))
        let prefetched = await gallery.downloader.prefetch(
            [1, 2].map { gallery.request("/\($0)") } + [.init("http://")])
        let usual = try await gallery.downloader.download(gallery.request("/3"))
        let low = try await gallery.downloader.download(gallery.request("/4") { $0.priority = .low })
        let high = try await gallery.downloader.download(gallery.request("/5") { $0.priority = .high })
        await low.setPriority(.init(200))
        let wanted = try await gallery.downloader.download(gallery.request("/2"))
        let error = try await networkError { _ = try await prefetched[2].image }
        #expect(error?.code == .invalidRequest)
        try await gate.open()
        for receipt in [first, prefetched[0], prefetched[1], usual, low, high, wanted] { _ = try await receipt.image }
        #expect(gallery.targets == ["/0", "/4", "/5", "/2", "/3", "/1"])
    }

    @Test(.rows("ID-22")) func `a response without an image is an error for all, and is not stored`() async throws {
        let gallery = try Gallery()
        gallery.transport.on(.get, "/cat").respond(fields: ["Content-Type": "image/png"], body: "no image").always()
        gallery.transport.on(.get, "/page").respond(fields: ["Content-Type": "text/html"], body: "<p>").always()
        gallery.transport.on(.get, "/gone").respond(404, body: "gone").always()
        for (path, code) in [
            ("cat", NetworkError.Code.imageDecodingFailed), ("page", .unacceptableContentType),
            ("gone", .unacceptableStatus),
        ] {
            let error = try await networkError {
                _ = try await gallery.downloader.image("http://me:secret@a.test/\(path)?token=secret")
            }
            #expect(error?.code == code)
            #expect(error.map { "\($0)".contains("secret") } == false)
            #expect(error?.request != nil)
        }
        #expect(gallery.cache.count == 0)
        #expect(await gallery.downloader.isIdle)
    }

    @Test(.rows("ID-25")) func `a chain of filters is applied once for all who want it, and cached by its name`()
        async throws
    {
        let (gallery, gate) = (try Gallery(), Gate())
        let applied = Mutex(0)
        try await gallery.hang("/cat", number: 7, behind: gate)
        let mark = ImageFilter("mark") { picture in
            applied.withLock { $0 += 1 }
            return picture
        }
        let small = ImageFilter.resize(to: ImageSize(width: 2, height: 1), .nearest)
        func receipt(_ filters: [ImageFilter], scale: Double? = nil) async throws -> ImageDownloader.Receipt {
            try await gallery.downloader.download(
                gallery.request("/cat") { ($0.filters, $0.scale) = (filters, scale) })
        }
        let receipts = [
            try await receipt([]), try await receipt([small, mark]), try await receipt([small, mark]),
            try await receipt([small, mark], scale: 2), try await receipt([mark]),
        ]
        try await gate.open()
        var sizes: [ImageSize] = []
        for receipt in receipts { sizes.append(try await receipt.image.size) }
        let (whole, half) = (ImageSize(width: 4, height: 3), ImageSize(width: 2, height: 1))
        #expect(sizes == [whole, half, half, half, whole])
        #expect(applied.withLock(\.self) == 2)
        #expect(try await receipts[3].image.scale == 2)
        #expect(gallery.targets.count == 1)
        #expect(gallery.cache.count == 4)
        let again = try await receipt([small, mark])
        #expect(try await again.response.source == .memory)
        #expect(applied.withLock(\.self) == 2)
    }

    @Test(.rows("ID-25")) func `a filter that throws fails those who wanted it and no other`() async throws {
        struct Refused: Error {}
        let (gallery, gate) = (try Gallery(), Gate())
        try await gallery.hang("/cat", behind: gate)
        let bad = ImageFilter("bad") { _ in throw Refused() }
        let failing = try await gallery.downloader.download(gallery.request("/cat") { $0.filters = [bad] })
        let plain = try await gallery.downloader.download(gallery.request("/cat"))
        try await gate.open()
        await #expect(throws: Refused.self) { try await failing.image }
        #expect(try await plain.image.width == 4)
        #expect(gallery.cache.count == 1)
    }

    @Test func `different chains of filters have different names`() {
        func name(_ names: String...) -> String? { names.map { ImageFilter($0) { $0 } }.name }
        #expect(name() == nil)
        #expect(Set([name("a | b"), name("a", "b"), name("a |", "b"), name("a \\", "b"), name("a \\| b")]).count == 5)
    }

    @Test func `no dump shows a secret`() async throws {
        let gallery = try Gallery()
        gallery.transport.on(.get, "/cat").never()
        let request = gallery.request("/cat?token=hunter2") { $0.fields = ["Authorization": "hunter2"] }
        let receipt = try await gallery.downloader.download(request)
        var text = "\(request) \(receipt) \(gallery.downloader)"
        dump(request, to: &text)
        dump(receipt, to: &text)
        dump(gallery.downloader, to: &text)
        dump(await gallery.downloader.machine, to: &text)
        dump(await gallery.downloader.downloads, to: &text)
        dump(await gallery.downloader.waiting, to: &text)
        await receipt.cancel()
        text += "\(try await networkError { _ = try await receipt.image }.debugDescription)"
        #expect(!text.contains("hunter2"))
        await gallery.downloader.shutdown()
    }

    @Test func `a request that does not decode gets the bytes, and its image when it asks`() async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat", number: 7)
        let response = try await gallery.downloader.response(for: gallery.request("/cat") { $0.decodes = false })
        #expect(response.picture == nil)
        #expect(response.content?.bytes == (try await Pictures.png(number: 7)))
        #expect(Pictures.number(try await response.image) == 7)
        #expect(gallery.cache.count == 0)
    }

    @Test func `an image that takes more bytes than the limit is an error, and its rest is not read`() async throws {
        let gallery = try Gallery { $0.bodyLimit = 1000 }
        let piece = Bytes([UInt8](repeating: 1, count: 600))
        let outcome = MockTransport.Outcome.stream(fields: ["Content-Type": "image/png"]) { _ in piece }
        gallery.transport.on(.get, "/long").reply(outcome)
        let error = try await networkError { _ = try await gallery.downloader.image("http://a.test/long") }
        #expect(error?.code == .limitExceeded && error?.reason.contains("1000 bytes; allow more with") == true)
    }
}

/// Numbers in the order in which they came.
private final class Order: Sendable {
    private let state = Mutex([Int]())

    var numbers: [Int] { state.withLock(\.self) }

    func append(_ number: Int) { state.withLock { $0.append(number) } }
}

extension ImageDownloader {
    /// Whether nothing is kept for any request.
    var isIdle: Bool { machine.isIdle && waiting.isEmpty && downloads.isEmpty && tasks.isEmpty }
}
