import Dunlin
import DunlinImages
import DunlinTesting
import Testing

/// A redirect is kept for as long as it says itself, however long its picture is.
extension `Who is given kept pictures` {
    private static let fresh: Fields = ["Content-Type": "image/bmp", "Cache-Control": "max-age=31536000"]

    /// `/cat` leads to one picture first, and then to another.
    private static func led(
        _ status: HTTP.Status, _ redirect: Fields, hasCache: Bool, picture: Fields = fresh
    ) throws -> Household {
        let household = try Household(.plain, says: .fresh, hasCache: hasCache)
        let transport = household.transport
        transport.on(.get, "/cat").respond(status, fields: redirect.overlaid(with: ["Location": "/one"]))
            .thenRespond(status, fields: redirect.overlaid(with: ["Location": "/two"])).always()
        for name in ["one", "two"] {
            transport.on(.get, "/\(name)").respond(fields: picture, body: Painter.bmp(name)).always()
        }
        return household
    }

    private static let withoutLifetime: [Fields] = [
        [:], ["Cache-Control": "no-cache"], ["Cache-Control": "max-age=0"], ["Cache-Control": "no-store"],
        ["Cache-Control": "max-age=600", "Age": "600"], ["Expires": "0"],
        ["Cache-Control": "max-age=600", "Vary": "*"],
    ]
    private static let redirects: [(HTTP.Status, Fields)] =
        withoutLifetime.flatMap { fields in [301, 302].map { ($0, fields) } } + [303, 307, 308].map { ($0, [:]) }

    @Test(arguments: redirects)
    func `a redirect without a lifetime is asked for again, and its new picture given`(
        status: HTTP.Status, redirect: Fields
    ) async throws {
        for hasCache in [true, false] {
            let caches = hasCache ? "with" : "without"
            try await holding("led, \(status.code) \(redirect.lines), \(caches) an HTTP cache") {
                let household = try Self.led(status, redirect, hasCache: hasCache)
                #expect(try await household.ask(.alice) == "one")
                let later = try await household.ask(.alice)
                #expect(later == "two")
                await household.end()
            }
        }
    }

    @Test(arguments: [301, 302, 307, 308] as [HTTP.Status])
    func `a redirect that is fresh is remembered with its picture`(status: HTTP.Status) async throws {
        let household = try Self.led(status, ["Cache-Control": "max-age=600"], hasCache: false)
        #expect(try await household.ask(.alice) == "one")
        let again = try await household.askAgain(.alice)
        #expect(again.text == "one" && again.source == .memory)
        #expect(household.transport.requests.map(\.target) == ["/cat", "/one"])
        await household.end()
    }

    /// The second of two redirects is the one without a lifetime.
    @Test func `each of several redirects is kept for as long as it says`() async throws {
        try await holding("led, by two redirects") {
            let household = try Self.led(302, ["Cache-Control": "no-cache"], hasCache: false)
            household.transport.on(.get, "/dog").respond(
                302, fields: ["Location": "/cat", "Cache-Control": "max-age=600"]
            ).always()
            let downloader = try household.downloader(of: .alice)
            for name in ["one", "two"] {
                let text = Painter.text(of: try await downloader.image("http://a.test/dog"))
                #expect(text == name)
            }
            await household.end()
        }
    }

    // MARK: - What a confirmation says

    private static func confirmed(_ fields: Fields) throws -> Household {
        let household = try Household(.plain, says: .fresh)
        let said: Fields = ["Content-Type": "image/bmp", "ETag": "\"1\"", "Cache-Control": "no-cache"]
        household.transport.on(where: { $0.fields.contains("if-none-match") }).respond(304, fields: fields).always()
        for theme in ["light", "dark"] {
            household.transport.on(where: { $0.fields["x-theme"] == theme })
                .respond(fields: said, body: Painter.bmp(theme)).always()
        }
        return household
    }

    private static func ask(_ household: Household, _ theme: String) async throws -> (
        text: String, source: ImageDownloader.Response.Source
    ) {
        var request = ImageDownloader.Request("http://a.test/cat")
        request.fields = ["X-Theme": theme]
        let response = try await household.downloader(of: .alice).response(for: request)
        return (Painter.text(of: try await response.image), response.source)
    }

    @Test func `a picture varies by what the server says when it confirms it`() async throws {
        try await holding("a 304 with Vary") {
            let household = try Self.confirmed(["Vary": "X-Theme", "Cache-Control": "max-age=600", "ETag": "\"1\""])
            #expect(try await Self.ask(household, "light").text == "light")
            #expect(try await Self.ask(household, "light").source == .confirmedMemory)
            let other = try await Self.ask(household, "dark")
            #expect(other.text == "dark")
            await household.end()
        }
    }

    @Test func `a picture that its server confirms with no-store is kept no longer`() async throws {
        try await holding("a 304 with no-store") {
            let household = try Self.confirmed(["Cache-Control": "no-store", "ETag": "\"1\""])
            #expect(try await Self.ask(household, "light").text == "light")
            #expect(try await Self.ask(household, "light").source == .confirmedMemory)
            let count = household.transport.requests.count
            #expect(try await Self.ask(household, "light").text == "light")
            #expect(household.transport.requests.dropFirst(count).map { $0.fields["if-none-match"] } == [nil])
            await household.end()
        }
    }

    // MARK: - What may not be kept

    @Test(arguments: [["Cache-Control": "no-store"], ["Vary": "*"]] as [Fields])
    func `a picture that its server keeps to one request is asked for again`(fields: Fields) async throws {
        for says in [Says.nothing, .fresh, .date, .tag] {
            try await holding("not kept, \(fields.lines): \(says.testDescription)") {
                let household = try Household(.plain, says: says) {
                    $0.version = "old"
                    for (name, value) in fields { $0.fields.append(name: name, value: value) }
                }
                #expect(try await household.ask(.alice) == "old")
                household.painter.change { $0.version = "new" }
                let later = try await household.ask(.alice)
                #expect(later == "new")
                await household.end()
            }
        }
    }
}
