import Dunlin
import DunlinTesting
import LeakChecking
import Mocking
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct `The time of a receipt` {
    /// A server that answers when the gate is open, and a session that lives by the clock.
    private static func gallery(
        _ clock: ManualClock, _ gate: Gate, _ change: (inout ImageDownloader.Configuration) -> Void = { _ in },
        session: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) async throws -> Gallery {
        let gallery = try Gallery(change) {
            try $0.use(clock)
            $0.timeouts.readIdle = nil
            session(&$0)
        }
        try await gallery.hang("/cat", behind: gate)
        return gallery
    }

    private static func error(_ receipt: ImageDownloader.Receipt) async throws -> NetworkError? {
        try await networkError { _ = try await receipt.image }
    }

    @Test func `who joins a download has the time of its own, and the download goes on for whoever has more`()
        async throws
    {
        let (clock, gate) = (ManualClock(), Gate())
        let gallery = try await Self.gallery(clock, gate)
        let request = gallery.request("/cat") { $0.timeout = .seconds(5) }
        let first = try await gallery.downloader.download(request)
        try await gallery.transport.waitForRequests()
        try await clock.advance(by: .seconds(3))
        let second = try await gallery.downloader.download(request)
        let patient = try await gallery.downloader.download(gallery.request("/cat") { $0.timeout = .none })
        try await clock.advance(by: .seconds(2))
        let error = try await Self.error(first)
        #expect(error?.code == .timedOut && error?.exceeded == .total)
        #expect(error?.limit == .seconds(5) && error?.elapsed == .seconds(5))
        #expect(error?.reason == "the request timed out")
        #expect("\(error?.request, default: "")" == "GET http://a.test/cat")
        #expect(!second.isOver && !patient.isOver)
        try await clock.advance(by: .seconds(3))
        #expect(try await Self.error(second)?.code == .timedOut)
        try await clock.advance(by: .seconds(10_000))
        try await gate.open()
        #expect(try await patient.image.width == 4)
        #expect(gallery.targets == ["/cat"])
        #expect(await gallery.downloader.isIdle)
    }

    @Test func `the request ends with the last whose time is up, and what has come is kept to be resumed`()
        async throws
    {
        let clock = ManualClock()
        let gallery = try Gallery(session: {
            try $0.use(clock)
            $0.timeouts.total = .seconds(5)
        })
        let png = try await Pictures.png()
        let fields: Fields = ["Content-Type": "image/png", "ETag": "\"1\""]
        let drip = MockTransport.Outcome.stream(fields: fields, length: png.count) { index in
            if index > 0 { try await Gate().pass() }
            return png[0..<10]
        }
        gallery.transport.on(.get, "/cat").reply(drip)
        let receipts = [
            try await gallery.downloader.download(gallery.request("/cat")),
            try await gallery.downloader.download(gallery.request("/cat")),
        ]
        for receipt in receipts { for await step in receipt.progress where step.completed == 10 { break } }
        try await clock.advance(by: .seconds(5))
        for receipt in receipts {
            let error = try await Self.error(receipt)
            #expect(error?.code == .timedOut && error?.phase == .receive)
        }
        try await eventually("the request ends") { await gallery.session.tasks.count == 0 }
        try await eventually("nothing else is kept") { await gallery.downloader.isIdle }
    }

    @Test func `a wait for a slot counts for no total, and for a deadline that is inherited`() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let gallery = try await Self.gallery(clock, gate) { $0.maximumActive = 1 }
        try await gallery.hang("/dog", behind: gate)
        let first = try await gallery.downloader.download(gallery.request("/cat"))
        let patient = try await gallery.downloader.download(gallery.request("/dog") { $0.timeout = .seconds(5) })
        let hasty = try await gallery.session.withTimeout(.seconds(3)) {
            try await gallery.downloader.download(gallery.request("/dog"))
        }
        try await clock.advance(by: .seconds(6))
        let error = try await Self.error(hasty)
        #expect(error?.code == .timedOut && error?.exceeded == .total && error?.phase == .pool)
        #expect(error?.limit == .seconds(3) && error?.elapsed == .seconds(6))
        #expect(error?.reason.contains("`maximumActive` is 1") == true)
        #expect(error?.requestMayHaveBeenSent == false)
        try await gate.open()
        for receipt in [first, patient] { #expect(try await receipt.image.width == 4) }
    }

    @Test func `a wait for the session's turn counts for no total`() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let gallery = try await Self.gallery(clock, gate, session: { $0.queue.running = 1 })
        let other = Task {
            try await gallery.session.get("cat", options: .init(timeouts: .init(total: .none)), as: .bytes).value
        }
        try await gallery.transport.waitForRequests()
        let slow = Gate()
        try await gallery.hang("/dog", behind: slow)
        let receipt = try await gallery.downloader.download(gallery.request("/dog") { $0.timeout = .seconds(5) })
        try await eventually("it waits") { await gallery.session.tasks.count == 2 }
        try await clock.advance(by: .seconds(6))
        #expect(!receipt.isOver)
        try await gate.open()
        _ = try await other.value
        try await gallery.transport.waitForRequests(2)
        try await eventually("its time has begun") { await gallery.downloader.machine.nextLook != nil }
        try await clock.advance(by: .seconds(5))
        #expect(try await Self.error(receipt)?.code == .timedOut)
    }

    @Test func `an inherited deadline that ends a running download says that something may have been sent`()
        async throws
    {
        let (clock, gate) = (ManualClock(), Gate())
        let gallery = try await Self.gallery(clock, gate, session: { $0.queue.running = 1 })
        try await gallery.hang("/dog")
        let other = Task {
            try await gallery.session.get("cat", options: .init(timeouts: .init(total: .none)), as: .bytes).value
        }
        try await gallery.transport.waitForRequests()
        let receipts = try await gallery.session.withTimeout(.seconds(3)) {
            [
                try await gallery.downloader.download(gallery.request("/dog")),
                try await gallery.downloader.download(gallery.request("/dog")),
            ]
        }
        try await eventually("it waits") { await gallery.session.tasks.count == 2 }
        try await clock.advance(by: .seconds(3))
        for receipt in receipts {
            let error = try await Self.error(receipt)
            #expect(error?.code == .timedOut && error?.phase == .pool && error?.requestMayHaveBeenSent == true)
        }
        try await eventually("nobody is left") { await gallery.downloader.isIdle }
        try await gate.open()
        _ = try await other.value
    }

    @Test func `nothing is sent for whom no time is left, and what is in memory is there all the same`() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let gallery = try await Self.gallery(clock, gate)
        try await gallery.hang("/dog")
        _ = try await gallery.downloader.image("http://a.test/dog")
        let running = try await gallery.downloader.download(gallery.request("/cat"))
        try await gallery.transport.waitForRequests(2)
        try await gallery.session.withTimeout(.seconds(1)) {
            try await clock.advance(by: .seconds(1))
            let late = try await gallery.downloader.download(gallery.request("/cat"))
            let error = try await Self.error(late)
            #expect(error?.code == .timedOut && error?.limit == .seconds(1))
            #expect(error?.reason == "the deadline of the enclosing `withTimeout` has passed")
            #expect(try await gallery.downloader.image("http://a.test/dog").width == 4)
        }
        try await gate.open()
        #expect(try await running.image.width == 4)
        #expect(gallery.targets == ["/dog", "/cat"])
    }

    @Test func `a picture that has come is late for nobody, however long it takes to be made`() async throws {
        let (clock, gate, work) = (ManualClock(), Gate(), Gate())
        let gallery = try await Self.gallery(clock, gate)
        try await gate.open()
        let (began, begins) = AsyncStream<Void>.makeStream()
        let filter = ImageFilter("slow") { picture in
            begins.yield()
            try await work.pass()
            return picture
        }
        let receipt = try await gallery.downloader.download(
            gallery.request("/cat") { ($0.timeout, $0.filters) = (.seconds(5), [filter]) })
        for await _ in began { break }
        try await clock.advance(by: .seconds(60))
        #expect(!receipt.isOver)
        try await work.open()
        #expect(try await receipt.image.width == 4)
    }

    @Test func `what goes on for the cache alone ends when the last who waited had no time left`() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let gallery = try await Self.gallery(clock, gate) { $0.unwanted = .finishForCache }
        let receipt = try await gallery.downloader.download(gallery.request("/cat") { $0.timeout = .seconds(5) })
        try await gallery.transport.waitForRequests()
        await receipt.cancel()
        try await clock.advance(by: .seconds(4))
        #expect(await gallery.downloader.active == 1)
        try await clock.advance(by: .seconds(1))
        try await eventually("nothing is kept") { await gallery.downloader.isIdle }
        #expect(await gallery.session.tasks.count == 0)
    }

    @Test(.leakChecked, .timeLimit(.minutes(5))) func `no timer is left, whether the time was up or not`() async throws
    {
        let server = try LoopbackServer()
        defer { server.stop() }
        let png = try await Pictures.png()
        server.respond { request in
            let reply = LoopbackServer.Reply.response(fields: ["Content-Type": "image/png"], body: png)
            return request.target == "/slow" ? reply.stallingAfter(20) : reply
        }
        var configuration = HTTPSession.Configuration()
        configuration.proxy = .none
        configuration.useLoopOfTest()
        let session = try HTTPSession(configuration)
        let downloader = ImageDownloader(session: session, cache: nil)
        var slow = ImageDownloader.Request(.url("\(server.baseURL)/slow"))
        slow.timeout = .milliseconds(20)
        let error = try await networkError { _ = try await downloader.image(for: slow) }
        #expect(error?.code == .timedOut && error?.limit == .milliseconds(20))
        #expect(try await downloader.image(.url("\(server.baseURL)/fast")).width == 4)
        // Given up with the downloader.
        slow.timeout = .seconds(100)
        _ = try await ImageDownloader(session: session, cache: nil).download(slow)
        await session.shutdown()
    }
}
