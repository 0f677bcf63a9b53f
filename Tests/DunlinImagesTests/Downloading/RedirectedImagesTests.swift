import Dunlin
import DunlinTesting
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct `Images behind redirects` {
    private static let fields: Fields = [
        "Content-Type": "image/png", "ETag": "\"1\"", "Cache-Control": "max-age=60",
    ]

    @Test func `a 304 from another place than the picture came from confirms nothing`() async throws {
        let clock = ManualClock()
        let gallery = try Gallery(clock: clock)
        gallery.transport.on(.get, "/cat").respond(302, fields: ["Location": "/one"])
            .thenRespond(302, fields: ["Location": "/two"]).always()
        gallery.transport.on(.get, "/one").respond(fields: Self.fields, body: try await Pictures.png(number: 7))
        // Its tag is the same by chance.
        gallery.transport.on(.get, "/two").respond(304)
            .thenRespond(fields: Self.fields, body: try await Pictures.png(number: 8)).thenRespond(304)
        #expect(Pictures.number(try await gallery.downloader.image("http://a.test/cat")) == 7)
        try await clock.advance(by: .seconds(60))
        let other = try await gallery.downloader.response(for: gallery.request("/cat"))
        #expect(other.source == .network)
        #expect(other.picture.map(Pictures.number) == 8)
        #expect(gallery.targets == ["/cat", "/one", "/cat", "/two", "/cat", "/two"])
        #expect(gallery.transport.requests[3].fields["If-None-Match"] == "\"1\"")
        #expect(gallery.transport.requests[5].fields["If-None-Match"] == nil)
        // What is in memory now came from there.
        try await clock.advance(by: .seconds(60))
        let confirmed = try await gallery.downloader.response(for: gallery.request("/cat"))
        #expect(confirmed.source == .confirmedMemory)
        #expect(confirmed.picture.map(Pictures.number) == 8)
    }

    @Test func `a 304 from where the picture was asked for confirms nothing that came from elsewhere`() async throws {
        let clock = ManualClock()
        let gallery = try Gallery(clock: clock)
        gallery.transport.on(.get, "/cat").respond(302, fields: ["Location": "/one"]).thenRespond(304)
            .thenRespond(fields: Self.fields, body: try await Pictures.png(number: 8))
        gallery.transport.on(.get, "/one").respond(fields: Self.fields, body: try await Pictures.png(number: 7))
        #expect(Pictures.number(try await gallery.downloader.image("http://a.test/cat")) == 7)
        try await clock.advance(by: .seconds(60))
        #expect(Pictures.number(try await gallery.downloader.image("http://a.test/cat")) == 8)
        #expect(gallery.targets == ["/cat", "/one", "/cat", "/cat"])
    }

    @Test func `a 304 for another URL counts where a program says that its picture is the same`() async throws {
        let clock = ManualClock()
        let gallery = try Gallery(clock: clock) { $0.identity = { _ in "the same" } }
        gallery.transport.on(.get, "/cat").respond(fields: Self.fields, body: try await Pictures.png(number: 7))
            .thenRespond(304)
        #expect(Pictures.number(try await gallery.downloader.image("http://a.test/cat?t=1")) == 7)
        try await clock.advance(by: .seconds(60))
        let confirmed = try await gallery.downloader.response(for: gallery.request("/cat?t=2"))
        #expect(confirmed.source == .confirmedMemory)
        #expect(gallery.targets == ["/cat?t=1", "/cat?t=2"])
    }
}
