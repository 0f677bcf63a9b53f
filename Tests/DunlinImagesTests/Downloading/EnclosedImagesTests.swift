import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(1))) struct `Images asked for in code that others wait for` {
    /// Work for code that is there before the downloader; it is done once.
    final class Visit: Sendable {
        private let work = Mutex<(@Sendable () async throws -> Void)?>(nil)

        func set(_ work: @escaping @Sendable () async throws -> Void) { self.work.withLock { $0 = work } }

        func make() async {
            let work = work.withLock { $0.take() }
            do { try await work?() } catch { Issue.record(error) }
        }
    }

    enum Surrounding: CaseIterable {
        case scope, webSocket, hook, interceptor

        func prepare(_ session: inout HTTPSession.Configuration, _ visit: Visit) {
            switch self {
            case .scope, .webSocket: break
            case .hook:
                session.hooks.response = { _, _ in
                    await visit.make()
                    return nil
                }
            case .interceptor:
                session.interceptors = [
                    .call { request, next in
                        await visit.make()
                        return try await next(request)
                    }
                ]
            }
        }

        func enter(_ gallery: Gallery, _ visit: Visit) async throws {
            let peer = MockWebSocket()
            gallery.transport.otherwise { request in
                request.target == "/chat" ? peer.accept(request) : .respond(body: "page")
            }
            switch self {
            case .scope: try await gallery.session.withResponse(from: "page") { _ in await visit.make() }
            case .webSocket:
                try await gallery.session.withWebSocket("chat") { _ in
                    await visit.make()
                    peer.end()
                }
            case .hook, .interceptor: try await gallery.session.get("page", as: .bytes)
            }
        }
    }

    @Test(arguments: Surrounding.allCases)
    func `an image waits for no turn that belongs to the code that asks for it`(surrounding: Surrounding) async throws {
        let visit = Visit()
        let outside = Mutex<ImageDownloader.Receipt?>(nil)
        let gallery = try Gallery(
            { $0.maximumActive = 1 },
            session: {
                $0.queue.running = 1
                surrounding.prepare(&$0, visit)
            })
        for path in ["/cat", "/dog"] { try await gallery.hang(path) }
        visit.set {
            // One that is asked for elsewhere has the only slot, and waits for the turn.
            let cat = gallery.request("/cat")
            let receipt = try await Task.detached { try await gallery.downloader.download(cat) }.value
            outside.withLock { $0 = receipt }
            try await eventually("it waits") { await gallery.session.tasks.count == 2 }
            async let again = gallery.downloader.image(for: cat)
            #expect(try await gallery.downloader.image(for: gallery.request("/dog")).width == 4)
            #expect(try await gallery.downloader.image(for: cat).width == 4)
            #expect(try await again.width == 4)
            #expect(!receipt.isOver)
        }
        try await surrounding.enter(gallery, visit)
        #expect(try await outside.withLock(\.self)?.image.width == 4)
        // Nothing under way is shared there, and what an interceptor asks for is not kept either.
        let asked = gallery.targets.count { $0 == "/cat" }
        #expect((2...3).contains(asked), "\(asked)")
        try await eventually("nothing is kept") { await gallery.downloader.isIdle }
    }

    @Test(arguments: [false, true])
    func `an image that an interceptor asks for is no other's, and is not kept`(isPrefetched: Bool) async throws {
        let (visit, gate) = (Visit(), Gate())
        let gallery = try Gallery(session: {
            $0.interceptors = [
                .call { request, next in
                    await visit.make()
                    return try await next(request) { $0.head.fields.append(name: "Tenant", value: "ann") }
                }
            ]
        })
        try await gallery.hang("/cat", behind: gate)
        gallery.transport.otherwise { _ in .respond(body: "page") }
        visit.set {
            let (downloader, cat) = (gallery.downloader, gallery.request("/cat"))
            let receipt =
                isPrefetched ? await downloader.prefetch([cat])[0] : try await downloader.download(cat)
            try await gallery.transport.waitForRequests()
            async let others = Task.detached { try await gallery.downloader.response(for: cat) }.value
            try await gallery.transport.waitForRequests(2)
            try await gate.open()
            _ = try await (receipt.image, others)
            #expect(gallery.cache.count == 1)
            gallery.cache.invalidate("http://a.test/cat")
            #expect(try await gallery.downloader.response(for: cat).source == .network)
            #expect(gallery.cache.count == 0)
        }
        try await gallery.session.get("page", as: .bytes)
        let cats = gallery.transport.requests.filter { $0.target == "/cat" }
        #expect(cats.map { $0.fields.contains("tenant") } == [false, true, false])
    }

    private final class Bound: Sendable {}
    @TaskLocal private static var bound: Bound?

    @Test func `a download keeps no other values of the task that asked for it`() async throws {
        let gallery = try Gallery()
        gallery.transport.on(.get, "/cat").never()
        gallery.transport.otherwise { _ in .respond(body: "page") }
        weak var bound: Bound?
        let receipt: ImageDownloader.Receipt
        do {
            let value = Bound()
            bound = value
            receipt = try await Self.$bound.withValue(value) {
                try await gallery.session.withResponse(from: "page") { _ in
                    try await gallery.downloader.download(gallery.request("/cat"))
                }
            }
        }
        try await gallery.transport.waitForRequests(2)
        try await eventually("the value is released") { bound == nil }
        #expect(!receipt.isOver)
        await receipt.cancel()
    }
}
