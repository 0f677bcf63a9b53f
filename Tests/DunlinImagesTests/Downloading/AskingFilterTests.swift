import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(1))) struct `Filters that use their downloader` {
    /// A filter that leaves pictures as they are.
    private static func filter(_ name: String, _ work: @escaping @Sendable () async throws -> Void) -> ImageFilter {
        ImageFilter(name) { picture in
            try await work()
            return picture
        }
    }

    /// Lets nobody pass before so many have come.
    private final class Meeting: Sendable {
        private let missing: Mutex<Int>

        init(of count: Int) {
            missing = Mutex(count)
        }

        func attend() async throws {
            missing.withLock { $0 -= 1 }
            try await eventually("all have come") { missing.withLock { $0 <= 0 } }
        }
    }

    @Test func `all that run may ask for more`() async throws {
        let gallery = try Gallery { $0.maximumActive = 2 }
        let (paths, meeting) = (["/1", "/2", "/3"], Meeting(of: 2))
        for path in paths + ["/frame"] { try await gallery.hang(path) }
        let framed = Self.filter("framed") {
            try await meeting.attend()
            _ = try await gallery.downloader.image("http://a.test/frame")
        }
        var receipts: [ImageDownloader.Receipt] = []
        for path in paths {
            receipts.append(try await gallery.downloader.download(gallery.request(path) { $0.filters = [framed] }))
        }
        for receipt in receipts { #expect(try await receipt.image.width == 4) }
        try await eventually("nothing is kept") { await gallery.downloader.isIdle }
    }

    @Test func `a filter may ask for an image that waits in line, and gets one of its own`() async throws {
        let gallery = try Gallery { $0.maximumActive = 1 }
        for path in ["/1", "/2"] { try await gallery.hang(path) }
        let filter = Self.filter("second") { _ = try await gallery.downloader.image("http://a.test/2") }
        let first = try await gallery.downloader.download(gallery.request("/1") { $0.filters = [filter] })
        let second = try await gallery.downloader.download(gallery.request("/2"))
        #expect(try await first.image.width == 4)
        #expect(try await second.image.width == 4)
        #expect(gallery.targets == ["/1", "/2", "/2"])
    }

    @Test func `a filter may ask for the original`() async throws {
        let gallery = try Gallery { $0.maximumActive = 1 }
        try await gallery.hang("/cat")
        let filter = Self.filter("doubled") { _ = try await gallery.downloader.image("http://a.test/cat") }
        #expect(try await gallery.downloader.image("http://a.test/cat", filters: [filter]).width == 4)
        #expect(gallery.targets == ["/cat", "/cat"])
    }

    /// By way of each of as many downloaders.
    @Test(arguments: [(2, 1), (2, 2), (3, 2), (3, 3)])
    func `filters may ask for each other's image at the same time`(count: Int, of downloaders: Int) async throws {
        let (galleries, meeting) = (try (0..<downloaders).map { _ in try Gallery() }, Meeting(of: count))
        for index in 0..<count { try await galleries[index % downloaders].hang("/\(index)") }
        var receipts: [ImageDownloader.Receipt] = []
        for index in 0..<count {
            let (gallery, next) = (galleries[index % downloaders], (index + 1) % count)
            let filter = Self.filter("beside \(next)") {
                try await meeting.attend()
                let other = galleries[next % downloaders].downloader
                #expect(try await other.image(.url("http://a.test/\(next)")).width == 4)
            }
            receipts.append(
                try await gallery.downloader.download(gallery.request("/\(index)") { $0.filters = [filter] }))
        }
        for receipt in receipts { #expect(try await receipt.image.width == 4) }
        for gallery in galleries {
            try await eventually("nothing is kept") { await gallery.downloader.isIdle }
        }
    }

    @Test func `a request's interceptor and a picture's filter may ask for each other at the same time`() async throws {
        let meeting = Meeting(of: 2)
        let asked = Mutex<(@Sendable () async throws -> Void)?>(nil)
        let gallery = try Gallery(session: {
            $0.coalescing.isOn = true
            $0.interceptors = [
                .exchange { request, next in
                    if request.head.target == "/page", let ask = asked.withLock({ $0.take() }) {
                        try await meeting.attend()
                        try await ask()
                    }
                    return try await next(request)
                }
            ]
        })
        try await gallery.hang("/cat")
        gallery.transport.on(.get, "/page").respond(body: "a page").always()
        let session = gallery.session
        let filter = Self.filter("with a page") {
            try await meeting.attend()
            #expect(try await session.get("http://a.test/page", as: .string).value == "a page")
        }
        let request = gallery.request("/cat") { $0.filters = [filter] }
        asked.withLock { $0 = { _ = try await gallery.downloader.image(for: request) } }
        async let page = session.get("http://a.test/page", as: .string).value
        #expect(try await gallery.downloader.image(for: request).width == 4)
        #expect(try await page == "a page")
        try await eventually("nothing is kept") { await gallery.downloader.isIdle }
    }

    /// A picture has the only slot, and its filter asks for a page; what asks for the page, through another session,
    /// asks for another picture.
    @Test(arguments: [true, false])
    func `code of a request waits for no slot: a picture that waits for the request may have it`(
        isFirst: Bool
    ) async throws {
        let gallery = try Gallery { $0.maximumActive = 1 }
        let downloader = gallery.downloader
        for path in ["/cat", "/dog"] { try await gallery.hang(path) }
        gallery.transport.on(.get, "/page").respond(body: "a page").always()
        let meeting = Meeting(of: 2)
        let known = Mutex<HTTPSession?>(nil)
        var configuration = gallery.session.configuration
        configuration.coalescing.isOn = true
        configuration.interceptors = [
            .exchange { request, next in
                if let session = known.withLock({ $0.take() }) {
                    try await meeting.attend()
                    if !isFirst { try await eventually("the page is shared") { await session.gauges().coalesced == 1 } }
                    _ = try await downloader.image("http://a.test/dog")
                }
                return try await next(request)
            }
        ]
        let session = try HTTPSession(configuration)
        known.withLock { $0 = session }
        let filter = Self.filter("with a page") {
            try await meeting.attend()
            if isFirst { try await eventually("the other is sent") { gallery.targets.contains("/dog") } }
            #expect(try await session.get("http://a.test/page", as: .string).value == "a page")
        }
        async let page = session.get("http://a.test/page", as: .string).value
        #expect(try await downloader.image("http://a.test/cat", filters: [filter]).width == 4)
        #expect(try await page == "a page")
        try await eventually("nothing is kept") { await downloader.isIdle }
        await session.shutdown()
    }

    @Test(arguments: [["/cat"], ["/cat", "/dog"]])
    func `a filter that needs its own result fails, also by way of another image`(paths: [String]) async throws {
        let gallery = try Gallery()
        for path in paths { try await gallery.hang(path) }
        /// The filter of one path asks for the next, with the filter of that.
        @Sendable func request(_ index: Int) -> ImageDownloader.Request {
            let filter = Self.filter("asking \(index)") {
                _ = try await gallery.downloader.image(for: request((index + 1) % paths.count))
            }
            return gallery.request(paths[index]) { $0.filters = [filter] }
        }
        let error = try await networkError { _ = try await gallery.downloader.image(for: request(0)) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason == "the picture was asked for by its own filter, or in a hook of its own request")
        try await eventually("nothing is kept") { await gallery.downloader.isIdle }
    }

    @Test func `a hook that asks for the image of its own request is refused`() async throws {
        let downloader = Mutex<ImageDownloader?>(nil)
        let codes = Mutex<[NetworkError.Code?]>([])
        let gallery = try Gallery(session: {
            $0.hooks.response = { _, _ in
                do {
                    _ = try await downloader.withLock(\.self)?.image("http://a.test/cat")
                } catch {
                    codes.withLock { $0.append((error as? NetworkError)?.code) }
                }
                return nil
            }
        })
        downloader.withLock { $0 = gallery.downloader }
        try await gallery.hang("/cat")
        #expect(try await gallery.downloader.image("http://a.test/cat").width == 4)
        #expect(codes.withLock(\.self) == [.invalidRequest])
        #expect(gallery.targets == ["/cat"])
    }

    @Test func `filters may end their downloader, several at the same time`() async throws {
        let (gallery, meeting) = (try Gallery(), Meeting(of: 2))
        let ended = Mutex(0)
        for path in ["/1", "/2"] { try await gallery.hang(path) }
        gallery.transport.on(.get, "/never").never()
        let last = Self.filter("last") {
            // The other one's shutdown cancels it, wherever it is.
            do { try await meeting.attend() } catch is CancellationError {}
            await gallery.downloader.shutdown()
            ended.withLock { $0 += 1 }
        }
        var receipts = [try await gallery.downloader.download(gallery.request("/never"))]
        for path in ["/1", "/2"] {
            receipts.append(try await gallery.downloader.download(gallery.request(path) { $0.filters = [last] }))
        }
        for receipt in receipts {
            #expect(try await networkError { _ = try await receipt.image }?.code == .sessionShutDown)
        }
        // What comes from elsewhere waits for all of them.
        await gallery.downloader.shutdown()
        #expect(ended.withLock(\.self) == 2)
        #expect(await gallery.downloader.isIdle)
    }
}
