import Dunlin
import DunlinTesting
import Foundation
import LedgerRows
import Mocking
import Synchronization
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct `Cancelling an image` {
    @Test(.rows("ID-16", "ID-19")) func `a receipt has the caller's id, and an equal one cancels it`() async throws {
        let (gallery, gate) = (try Gallery(), Gate())
        try await gallery.hang("/cat", behind: gate)
        let id = UUID()
        let receipt = try await gallery.downloader.download(gallery.request("/cat"), id: id)
        let other = try await gallery.downloader.download(gallery.request("/cat"))
        #expect(receipt.id == id)
        #expect(other.id != id)
        await gallery.downloader.cancel(try #require(UUID(uuidString: id.uuidString)))
        #expect(try await networkError { _ = try await receipt.image }?.code == .cancelled)
        try await gate.open()
        #expect(try await other.response.receiptID == other.id)
    }

    @Test(.rows("ID-17")) func `a cancelled receipt is told so, and the others get their image`() async throws {
        let (gallery, gate) = (try Gallery(), Gate())
        try await gallery.hang("/cat", behind: gate)
        let receipts = [
            try await gallery.downloader.download(gallery.request("/cat")),
            try await gallery.downloader.download(gallery.request("/cat")),
        ]
        await receipts[0].cancel()
        let error = try await networkError { _ = try await receipts[0].image }
        #expect(error?.code == .cancelled)
        #expect(error?.reason == "ImageDownloader cancelled URL request: http://a.test/cat")
        try await gate.open()
        #expect(try await receipts[1].image.width == 4)
        // It is over, and stays what it was.
        await receipts[1].cancel()
        #expect(try await receipts[1].image.width == 4)
        #expect(gallery.targets.count == 1)
    }

    @Test(.rows("ID-18")) func `the request is cancelled with the last who waits`() async throws {
        let gallery = try Gallery()
        gallery.transport.on(.get, "/cat").never()
        let receipts = [
            try await gallery.downloader.download(gallery.request("/cat")),
            try await gallery.downloader.download(gallery.request("/cat")),
        ]
        try await gallery.transport.waitForRequests()
        await receipts[0].cancel()
        #expect(await gallery.session.tasks.count == 1)
        await receipts[1].cancel()
        try await eventually("the request ends") { await gallery.session.tasks.count == 0 }
        try await eventually("nothing is kept") { await gallery.downloader.isIdle }
    }

    @Test(.rows("ID-14", "ID-18")) func `an image cancelled before it began is never requested`() async throws {
        let (gallery, gate) = (try Gallery { $0.maximumActive = 1 }, Gate())
        for path in ["/1", "/2", "/3"] { try await gallery.hang(path, behind: gate) }
        let first = try await gallery.downloader.download(gallery.request("/1"))
        let second = try await gallery.downloader.download(gallery.request("/2"))
        let third = try await gallery.downloader.download(gallery.request("/3"))
        await second.cancel()
        #expect(await gallery.downloader.active == 1)
        try await gate.open()
        _ = (try await first.image, try await third.image)
        #expect(gallery.targets == ["/1", "/3"])
    }

    @Test(.rows("ID-18")) func `an image that nobody waits for may be finished for the cache`() async throws {
        let (gallery, gate) = (try Gallery { $0.unwanted = .finishForCache }, Gate())
        try await gallery.hang("/cat", number: 7, behind: gate)
        let receipt = try await gallery.downloader.download(gallery.request("/cat"))
        try await gallery.transport.waitForRequests()
        await receipt.cancel()
        try await gate.open()
        try await eventually("it is stored") { gallery.cache.count == 1 }
        #expect(try await gallery.downloader.response(for: gallery.request("/cat")).source == .memory)
        #expect(gallery.targets.count == 1)
    }

    @Test(.rows("ID-12", "ID-21")) func `an image asked for again after a cancel is another request`() async throws {
        let (gallery, gate) = (try Gallery(), Gate())
        gallery.transport.on(.get, "/cat").never()
        let first = try await gallery.downloader.download(gallery.request("/cat"))
        try await gallery.transport.waitForRequests()
        await first.cancel()
        try await gallery.hang("/cat", number: 8, behind: gate)
        let second = try await gallery.downloader.download(gallery.request("/cat"))
        #expect(first.id != second.id)
        try await gate.open()
        #expect(Pictures.number(try await second.image) == 8)
        #expect(try await networkError { _ = try await first.image }?.code == .cancelled)
        #expect(gallery.targets.count == 2)
    }

    @Test(.rows("ID-20")) func `cancelling what is over or unknown has no effect`() async throws {
        let gallery = try Gallery()
        try await gallery.hang("/cat")
        let receipt = try await gallery.downloader.download(gallery.request("/cat"))
        _ = try await receipt.image
        await receipt.cancel()
        await gallery.downloader.cancel(receipt.id)
        await gallery.downloader.cancel(UUID())
        #expect(receipt.isOver)
        #expect(try await receipt.image.width == 4)
    }

    @Test func `a cancelled task gets CancellationError, and its download ends if nobody else waits`() async throws {
        let gallery = try Gallery()
        gallery.transport.on(.get, "/cat").never()
        let task = Task { try await gallery.downloader.image("http://a.test/cat") }
        try await gallery.transport.waitForRequests()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await eventually("nothing is kept") { await gallery.downloader.isIdle }
        #expect(await gallery.session.tasks.count == 0)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await gallery.downloader.image("http://a.test/cat")
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(gallery.targets.count == 1)
    }

    @Test func `a task that waits for a receipt may be cancelled without it`() async throws {
        let (gallery, gate) = (try Gallery(), Gate())
        try await gallery.hang("/cat", behind: gate)
        let receipt = try await gallery.downloader.download(gallery.request("/cat"))
        let task = Task { try await receipt.image }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await gate.open()
        #expect(try await receipt.image.width == 4)
    }

    @Test(.rows("ID-26")) func `whoever waits for a downloader that has gone is told`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/cat").never()
        let session = try HTTPSession(.init(baseURL: nil, transport: transport))
        weak var gone: ImageDownloader?
        var receipt: ImageDownloader.Receipt?
        do {
            let downloader = ImageDownloader(session: session)
            gone = downloader
            receipt = try await downloader.download(.init("http://a.test/cat"))
            try await transport.waitForRequests()
        }
        let error = try await networkError { _ = try await receipt?.image }
        #expect(error?.code == .sessionShutDown)
        #expect(gone == nil)
        try await eventually("its request ends") { await session.tasks.count == 0 }
        await receipt?.cancel()
    }

    @Test(.rows("ID-26")) func `a downloader that is shut down answers all, and takes no more`() async throws {
        let gallery = try Gallery { $0.maximumActive = 1 }
        gallery.transport.on(.get, "/cat").never()
        let receipts = [
            try await gallery.downloader.download(gallery.request("/cat")),
            try await gallery.downloader.download(gallery.request("/dog")),
        ]
        try await gallery.transport.waitForRequests()
        await gallery.downloader.shutdown()
        #expect(await gallery.session.tasks.count == 0)
        for receipt in receipts {
            #expect(try await networkError { _ = try await receipt.image }?.code == .sessionShutDown)
        }
        let error = try await networkError { _ = try await gallery.downloader.image("http://a.test/cat") }
        #expect(error?.code == .sessionShutDown)
        #expect(await gallery.downloader.isIdle)
        #expect(!gallery.session.isShutDown)
        await gallery.downloader.shutdown()
    }

    @Test func `a session that ends fails the images that are on their way over it`() async throws {
        let gallery = try Gallery()
        gallery.transport.on(.get, "/cat").never()
        let receipt = try await gallery.downloader.download(gallery.request("/cat"))
        try await gallery.transport.waitForRequests()
        await gallery.session.shutdown()
        #expect(try await networkError { _ = try await receipt.image } != nil)
        let later = try await networkError { _ = try await gallery.downloader.image("http://a.test/cat") }
        #expect(later?.code == .sessionShutDown)
    }
}
