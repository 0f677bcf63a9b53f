import Dunlin
import DunlinImages
import DunlinTesting
import Synchronization
import Testing

/// Several wait for one download, each with wishes of its own.
@Suite(.timeLimit(.minutes(10))) struct `Those who wait for a picture` {
    @Test func `a value that is no segment is refused before anything is looked up`() async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat")
        _ = try await gallery.downloader.download(gallery.request("/cat")).image
        for target in ["users/\("..")/cat", "\(".")/cat"] as [HTTP.Target] {
            let error = await #expect(throws: NetworkError.self) { try await gallery.downloader.image(target) }
            #expect(error?.code == .invalidRequest)
            #expect(gallery.downloader.imageInMemory(for: .init(target)) == nil)
        }
        #expect(gallery.targets == ["/cat"])
    }

    @Test func `each gets what came for its own screen, decoded or not`() async throws {
        let (gallery, gate) = (try Gallery(), Gate())
        try await gallery.hang("/cat", behind: gate)
        var receipts: [ImageDownloader.Receipt] = []
        for (scale, decodes) in [(1.0, true), (2, false), (3, true)] {
            let request = gallery.request("/cat") { ($0.scale, $0.decodes) = (scale, decodes) }
            receipts.append(try await gallery.downloader.download(request))
        }
        try await gate.open()
        for receipt in receipts {
            let response = try await receipt.response
            #expect(response.content?.scale == receipt.request.scale)
            #expect(try await response.image.scale == receipt.request.scale)
        }
        #expect(gallery.targets == ["/cat"])
    }

    @Test func `a download is sent with the highest priority of those who wait when it begins`() async throws {
        let seen = Mutex<[HTTP.Priority]>([])
        let gate = Gate()
        let gallery = try Gallery {
            $0.maximumActive = 1
        } session: {
            $0.interceptors = [
                .exchange { request, next in
                    seen.withLock { $0.append(request.priority) }
                    return try await next(request)
                }
            ]
        }
        try await gallery.hang("/first", behind: gate)
        try await gallery.hang("/cat")
        let first = try await gallery.downloader.download(gallery.request("/first"))
        let early = await gallery.downloader.prefetch([gallery.request("/cat")])
        let late = try await gallery.downloader.download(gallery.request("/cat") { $0.priority = .high })
        try await gate.open()
        for receipt in [first, late] + early { _ = try await receipt.image }
        #expect(seen.withLock(\.self) == [.normal, .high])
    }

    @Test func `an image that was sent as another user than it was requested for is not kept`() async throws {
        let (first, second) = (Gate(), Gate())
        let gallery = try Gallery {
            $0.maximumActive = 1
        } session: {
            $0.basicInClearText = .allowed
            $0.credentials = .basic(user: "alice", password: "pw")
        }
        try await gallery.hang("/first", behind: first)
        try await gallery.hang("/cat", behind: second)
        let receipts = [
            try await gallery.downloader.download(gallery.request("/first")),
            try await gallery.downloader.download(gallery.request("/cat")),
        ]
        _ = try await gallery.transport.waitForRequests(1)
        try gallery.session.replace(credentials: .basic(user: "bob", password: "pw"))
        try await first.open()
        _ = try await gallery.transport.waitForRequests(2)
        try gallery.session.replace(credentials: .basic(user: "alice", password: "pw"))
        try await second.open()
        for receipt in receipts { _ = try await receipt.image }
        #expect(gallery.downloader.imageInMemory(for: gallery.request("/cat")) == nil)
    }
}
