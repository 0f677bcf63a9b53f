import Dunlin
import DunlinImages
import DunlinTesting
import Testing

/// What is forgotten while a picture is on its way is not put back by it.
extension `Who is given kept pictures` {
    /// Who forgets a picture, and how.
    enum Forgetting: CaseIterable, Sendable {
        /// The downloader that brings it.
        case itself
        /// Another downloader of the same session.
        case another
        /// A downloader of another session with the same caches.
        case anotherSession
        case imagesInvalidate
        case imagesRemove
        case imagesRemoveAll
    }

    private static func forget(_ forgetting: Forgetting, _ household: Household) async throws {
        let (images, url) = (household.images, household.url)
        switch forgetting {
        case .itself: try await household.downloader(of: .alice).invalidate(url)
        case .another:
            let session = try household.downloader(of: .alice).session
            try await ImageDownloader(session: session, cache: images).invalidate(url)
        case .anotherSession:
            let session = try household.session(of: .alice)
            try await ImageDownloader(session: session, cache: images).invalidate(url)
            await session.shutdown()
        case .imagesInvalidate: images.invalidate(url)
        case .imagesRemove: images.removeImage(for: ImageKey(url: url))
        case .imagesRemoveAll: images.removeAll()
        }
    }

    @Test(arguments: Forgetting.allCases, [true, false])
    func `a picture that was forgotten on its way is not kept`(forgetting: Forgetting, hasCache: Bool) async throws {
        // The session's cache forgets nothing of what the images' cache removes.
        if hasCache, [.imagesInvalidate, .imagesRemove, .imagesRemoveAll].contains(forgetting) { return }
        try await holding("forgotten, \(forgetting), \(hasCache ? "with" : "without") an HTTP cache") {
            let gate = LoopbackServer.Gate()
            let household = try Household(.plain, says: .fresh, hasCache: hasCache) {
                ($0.gate, $0.version) = (gate, "old")
            }
            let receipt = try await household.downloader(of: .alice).download(household.request(of: .alice))
            try await eventually("it is held") { household.painter.held == 1 }
            household.painter.change { $0.version = "new" }
            try await Self.forget(forgetting, household)
            gate.open()
            #expect(Painter.text(of: try await receipt.image) == "old")
            let later = try await household.ask(.alice)
            #expect(later == "new")
            await household.end()
        }
    }

    @Test(arguments: Forgetting.allCases)
    func `a picture that was forgotten while its server confirmed it is not kept`(forgetting: Forgetting) async throws {
        try await holding("forgotten, \(forgetting), confirmed") {
            let household = try Household(.plain, says: .tag) { $0.version = "old" }
            #expect(try await household.ask(.alice) == "old")
            let gate = LoopbackServer.Gate()
            household.painter.change { $0.gate = gate }
            let receipt = try await household.downloader(of: .alice).download(household.request(of: .alice))
            try await eventually("it is held") { household.painter.held == 1 }
            try await Self.forget(forgetting, household)
            gate.open()
            #expect(Painter.text(of: try await receipt.image) == "old")
            let count = household.painter.asked.count
            _ = try await household.ask(.alice)
            #expect(household.painter.asked.dropFirst(count).map { $0.fields["if-none-match"] } == [nil])
            await household.end()
        }
    }

    /// The same URL as `/~cat?q=1`, written in another way.
    @Test(
        arguments: [
            "http://a.test/~cat?q=1", "HTTP://A.Test/~cat?q=1", "http://a.test:80/~cat?q=1", "http://a.test/%7Ecat?q=1",
            "http://a.test/%7ecat?q=1", "http://a.test/x/../~cat?q=1", "http://a.test/~cat?q=1#top", "/~cat?q=1",
        ], [true, false])
    func `a URL is invalidated however it is written`(spelling: String, isAsked: Bool) async throws {
        try await holding("\(isAsked ? "asked" : "invalidated") as \(spelling)") {
            let household = try Household(.plain, says: .fresh, hasCache: true) { $0.version = "old" }
            let downloader = try household.downloader(of: .alice)
            let (asked, invalidated) =
                isAsked ? (spelling, "http://a.test/~cat?q=1") : ("http://a.test/~cat?q=1", spelling)
            let other = "http://a.test/~cat?q=2"
            for url in [asked, other] {
                #expect(Painter.text(of: try await downloader.image(.url(url))) == "old")
            }
            household.painter.change { $0.version = "new" }
            try await downloader.invalidate(invalidated)
            let later = Painter.text(of: try await downloader.image(.url(asked)))
            #expect(later == "new")
            // Another URL is not.
            #expect(Painter.text(of: try await downloader.image(.url(other))) == "old")
            await household.end()
        }
    }

    @Test(arguments: [true, false])
    func `a URL is invalidated for all its users`(hasCache: Bool) async throws {
        try await holding("invalidated without user info, \(hasCache ? "with" : "without") an HTTP cache") {
            let household = try Household(.plain, says: .fresh, hasCache: hasCache) {
                ($0.version, $0.challenge) = ("old", "Basic realm=r")
            }
            let downloader = try household.downloader(of: .alice)
            let asked = "http://alice:pw@a.test/cat"
            #expect(Painter.text(of: try await downloader.image(.url(asked))) == "old")
            household.painter.change { $0.version = "new" }
            try await downloader.invalidate("http://a.test/cat")
            let later = Painter.text(of: try await downloader.image(.url(asked)))
            #expect(later == "new")
            await household.end()
        }
    }
}
