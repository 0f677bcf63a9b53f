import Dunlin
import DunlinImages
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

/// Keeps what it shows.
private final class Wall: ImageTarget {
    private let state = Mutex<[ImageSize?]>([])

    var shown: [ImageSize?] { state.withLock { $0 } }

    func show(_ image: ImageBuffer?, in slot: ImageSlot) { state.withLock { $0.append(image?.size) } }
}

@Suite(.timeLimit(.minutes(10))) struct `A downloader as the source of targets` {
    private let transport = MockTransport()
    private let cache: AutoPurgingImageCache
    private let downloader: ImageDownloader

    init() async throws {
        let png = try await ImageEncoder().png(TestPicture.gradient(3, 2))
        transport.on(.get, "/a.png").respond(fields: ["Content-Type": "image/png"], body: png).always()
        let session = try HTTPSession(HTTPSession.Configuration(baseURL: "http://a.test", transport: transport))
        cache = try AutoPurgingImageCache(capacity: 1 << 20, preferredUsage: 1 << 19, pressure: nil)
        downloader = ImageDownloader(session: session, cache: cache)
    }

    @Test(.rows("UI-1", "UI-2"))
    func `a target asks for images and for nothing else`() throws {
        let request = try downloader.request(forImageAt: "http://a.test/a.png")
        #expect(request.fields == ["Accept": "image/*"])
        #expect(request.timeout == .session)
        #expect(request.cacheMode == .session)
        #expect(request == ImageDownloader.Request.asked(for: "http://a.test/a.png"))
    }

    @Test(.rows("UI-1", "UI-6", "UI-10", "UI-13"))
    func `an image is downloaded once, and then comes from memory unless the request says otherwise`() async throws {
        let wall = Wall()
        let binding = ImageBinding(wall, from: downloader)
        let size = ImageSize(width: 3, height: 2)
        try await binding.show("http://a.test/a.png", placeholder: .clear)
        try await binding.show("http://a.test/a.png", placeholder: .clear)
        #expect(wall.shown == [nil, size, size])
        #expect(transport.requests.count == 1)
        #expect(transport.requests.first?.fields["Accept"] == "image/*")
        var request = try downloader.request(forImageAt: "http://a.test/a.png")
        request.memory = .reload
        try await binding.show(request, placeholder: .clear)
        #expect(wall.shown == [nil, size, size, nil, size])
        #expect(transport.requests.count == 2)
    }

    /// One of three by two pixels, and one of two by two.
    private static func pictures() async throws -> [Bytes] {
        let encoder = ImageEncoder()
        return [
            try await encoder.png(TestPicture.gradient(3, 2)), try await encoder.png(TestPicture.gradient(2, 2)),
        ]
    }

    @Test func `an image that is on its way for one user is not shown to the next`() async throws {
        let gate = LoopbackServer.Gate()
        let pngs = try await Self.pictures()
        let transport = MockTransport()
        transport.otherwise { request in
            let isAda = request.fields["Authorization"] == "Bearer ada"
            if isAda { try await gate.opened() }
            return .respond(fields: ["Content-Type": "image/png"], body: pngs[isAda ? 0 : 1])
        }
        var configuration = HTTPSession.Configuration(baseURL: "https://a.test", transport: transport)
        configuration.credentials = .bearer(token: "ada")
        let session = try HTTPSession(configuration)
        let wall = Wall()
        let binding = ImageBinding(wall, from: ImageDownloader(session: session, cache: nil))
        let ada = Task { try await binding.show("https://a.test/me.png").size }
        try await transport.waitForRequests(1)
        try session.replace(credentials: .bearer(token: "bob"))
        #expect(try await binding.show("https://a.test/me.png").size == ImageSize(width: 2, height: 2))
        gate.open()
        let error = try await NetworkError.thrown { _ = try await ada.value }
        #expect(error.code == .cancelled)
        #expect(wall.shown == [ImageSize(width: 2, height: 2)])
    }

    @Test func `an image that was invalidated on its way is not shown to who asks after that`() async throws {
        let gate = LoopbackServer.Gate()
        let pngs = try await Self.pictures()
        let transport = MockTransport()
        transport.otherwise { _ in
            let isFirst = transport.requests.count == 1
            if isFirst { try await gate.opened() }
            return .respond(fields: ["Content-Type": "image/png"], body: pngs[isFirst ? 0 : 1])
        }
        let session = try HTTPSession(HTTPSession.Configuration(baseURL: "https://a.test", transport: transport))
        let wall = Wall()
        let downloader = ImageDownloader(session: session, cache: nil)
        let binding = ImageBinding(wall, from: downloader)
        let former = Task { try await binding.show("https://a.test/me.png").size }
        try await transport.waitForRequests(1)
        try await downloader.invalidate("https://a.test/me.png")
        let new = Task { try await binding.show("https://a.test/me.png").size }
        let error = try await NetworkError.thrown { _ = try await former.value }
        #expect(error.code == .cancelled)
        gate.open()
        #expect(try await new.value == ImageSize(width: 2, height: 2))
    }

    /// A load is shared, and so would be the time of whoever began it.
    @Test(arguments: [true, false])
    func `who joins an image has the time of its own, and no other's`(isFirstLimited: Bool) async throws {
        let gate = LoopbackServer.Gate()
        let png = try await ImageEncoder().png(TestPicture.gradient(3, 2))
        let transport = MockTransport()
        transport.otherwise { _ in
            try await gate.opened()
            return .respond(fields: ["Content-Type": "image/png"], body: png)
        }
        let session = try HTTPSession(HTTPSession.Configuration(baseURL: "http://a.test", transport: transport))
        let wall = Wall()
        let binding = ImageBinding(wall, from: ImageDownloader(session: session, cache: nil))
        let isOver = LoopbackServer.Gate()
        @Sendable func show(_ isLimited: Bool) async throws -> ImageSize {
            let url = "http://a.test/a.png"
            if !isLimited { return try await binding.show(url).size }
            defer { isOver.open() }
            return try await session.withTimeout(.milliseconds(300)) { try await binding.show(url).size }
        }
        let first = Task { try await show(isFirstLimited) }
        try await transport.waitForRequests(1)
        let second = Task { try await show(!isFirstLimited) }
        try await isOver.opened()
        gate.open()
        let (limited, other) = isFirstLimited ? (first, second) : (second, first)
        let error = try await NetworkError.thrown { _ = try await limited.value }
        #expect(error.code == .timedOut && error.limit == .milliseconds(300))
        #expect(try await other.value == ImageSize(width: 3, height: 2))
    }

    @Test(.rows("UI-3")) func `text that is no URL throws before anything is sent`() async throws {
        let binding = ImageBinding(Wall(), from: downloader)
        let error = await #expect(throws: NetworkError.self) { try await binding.show("http://", placeholder: .clear) }
        #expect(error?.code == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }
}

extension ImageDownloader.Request {
    fileprivate static func asked(for url: String) -> Self {
        var request = Self(.url(url))
        request.fields = ["Accept": "image/*"]
        return request
    }
}
