import Dunlin
import DunlinSemantics
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct `Which version of a picture is given` {
    private static func answer(_ number: UInt8, _ fields: Fields) async throws -> MockTransport.Outcome {
        let type: Fields = ["Content-Type": "image/png"]
        return .respond(fields: fields.overlaid(with: type), body: try await Pictures.png(number: number))
    }

    private static func number(
        _ gallery: Gallery, _ change: (inout ImageDownloader.Request) -> Void = { _ in }
    ) async throws -> UInt8 {
        Pictures.number(try await gallery.downloader.image(for: gallery.request("/cat", change)))
    }

    @Test func `a condition of the request's own confirms no picture`() async throws {
        let clock = ManualClock()
        let gallery = try Gallery(clock: clock)
        let fields: Fields = ["ETag": "\"1\"", "Cache-Control": "max-age=60"]
        let (old, new) = (try await Self.answer(1, fields), try await Self.answer(2, ["ETag": "\"2\""]))
        gallery.transport.otherwise { request in
            if gallery.targets.count == 1 { return old }
            return request.fields["If-None-Match"] == "\"2\"" ? .respond(304, fields: ["ETag": "\"2\""]) : new
        }
        #expect(try await Self.number(gallery) == 1)
        try await clock.advance(by: .seconds(60))
        let request = gallery.request("/cat") { $0.fields = ["If-None-Match": "\"2\""] }
        await #expect(throws: NetworkError.self) { try await gallery.downloader.image(for: request) }
        #expect(try await Self.number(gallery) == 2)
    }

    @Test(arguments: [["Cache-Control": "no-store"], ["Vary": "*"]] as [Fields])
    func `a newer version that may not be kept removes the older one`(fields: Fields) async throws {
        let gallery = try Gallery()
        for (number, fields) in [(1, [:]), (2, fields), (3, [:])] as [(UInt8, Fields)] {
            gallery.transport.on(.get, "/cat").reply(try await Self.answer(number, fields))
        }
        #expect(try await Self.number(gallery) == 1)
        #expect(try await Self.number(gallery) { $0.memory = .reload } == 2)
        #expect(try await Self.number(gallery) == 3)
    }

    @Test func `an older version does not come back where the newer one varies by more`() async throws {
        let clock = ManualClock()
        let gallery = try Gallery(clock: clock)
        let year = try await Self.answer(1, ["Cache-Control": "max-age=31536000"])
        let varied: Fields = ["Cache-Control": "max-age=60", "Vary": "Accept-Encoding", "ETag": "\"2\""]
        gallery.transport.on(.get, "/cat").reply(year).reply(try await Self.answer(2, varied))
            .reply(try await Self.answer(3, varied))
        #expect(try await Self.number(gallery) == 1)
        #expect(try await Self.number(gallery) { $0.memory = .reload } == 2)
        try await clock.advance(by: .seconds(60))
        #expect(try await Self.number(gallery) == 3)
    }

    @Test func `requests of one identity share a download only if their fields are the same`() async throws {
        let gallery = try Gallery { $0.identity = { _ in "the same" } }
        let gate = Gate()
        let (dark, light) = (
            try await Self.answer(1, ["Vary": "X-Theme"]), try await Self.answer(2, ["Vary": "X-Theme"])
        )
        gallery.transport.otherwise { request in
            try await gate.pass()
            return request.fields["X-Theme"] == "dark" ? dark : light
        }
        var receipts: [ImageDownloader.Receipt] = []
        for theme in ["dark", "light"] {
            receipts.append(
                try await gallery.downloader.download(gallery.request("/cat") { $0.fields = ["X-Theme": theme] }))
        }
        try await gate.open()
        for (number, receipt) in receipts.enumerated() {
            #expect(Pictures.number(try await receipt.image) == UInt8(number + 1))
        }
    }

    @Test func `requests whose user nobody knows wait for a slot as others do`() async throws {
        let gallery = try Gallery {
            $0.maximumActive = 1
        } session: {
            $0.interceptors = [.exchange { request, next in try await next(request) }]
        }
        let gate = Gate()
        try await gallery.hang("/cat", behind: gate)
        var receipts: [ImageDownloader.Receipt] = []
        for _ in 0..<3 {
            receipts.append(
                try await gallery.downloader.download(gallery.request("/cat") { $0.cacheMode = .none }))
        }
        #expect(await gallery.downloader.active == 1)
        #expect(await gallery.downloader.queued == 2)
        try await gate.open()
        for receipt in receipts { _ = try await receipt.image }
        #expect(gallery.targets.count == 3)
    }

    /// What an interceptor around calls does with each of them.
    enum Doing: CaseIterable {
        case signing, moving, answering
    }

    @Test(arguments: Doing.allCases)
    func `a picture is in memory under what was asked for, whatever an interceptor makes of that`(
        doing: Doing
    ) async throws {
        let number = Atomic(0)
        let made = try await Pictures.png(number: 1)
        let gallery = try Gallery(session: {
            $0.interceptors = [
                .call { request, next in
                    let count = number.add(1, ordering: .relaxed).newValue
                    switch doing {
                    case .signing:
                        return try await next(request) { $0.head.fields["Authorization"] = "Signature \(count)" }
                    case .moving: return try await next(request) { $0.head.target = "/moved?signature=\(count)" }
                    case .answering:
                        let head = ResponseHead(status: 200, fields: ["Content-Type": "image/png"])
                        return TransportResponse(head: head, body: .bytes(made))
                    }
                }
            ]
        })
        let answer = try await Self.answer(1, [:])
        gallery.transport.otherwise { _ in answer }
        for _ in 0..<3 { #expect(try await Self.number(gallery) == 1) }
        #expect(number.load(ordering: .relaxed) == 1)
    }

    /// An answer that varies by `X-Theme`.
    private static func kept(_ theme: String) throws -> KeptAnswer {
        let head = RequestHead(
            method: .get, origin: HTTP.Origin(scheme: .http, host: "a.test"), target: "/cat",
            fields: ["X-Theme": theme])
        let answer = ResponseHead(status: 200, fields: ["Vary": "X-Theme"])
        var provenance = Provenance()
        provenance.add(
            Provenance.Step(
                CacheRequest(head), sent: head, answer, .init(nil, withJar: nil, isNamed: false), rules: "",
                isConfirmed: true, isElsewhere: false, sentAt: 0, receivedAt: 0))
        return try #require(provenance.kept(answer, at: 0, CacheRules { _, _ in nil }))
    }

    @Test func `variants of a picture take no room from others`() throws {
        let cache = try AutoPurgingImageCache(
            capacity: 4000, preferredUsage: 2000, pressure: nil, clock: ManualClock())
        let key = ImageKey(url: "http://a.test/cat")
        for number in 0..<10 {
            // Each is for whom the one before is not.
            let picture = StoredImage(
                try Pictures.buffer(16, 16, number: UInt8(number)), of: try Self.kept("\(number)"))
            #expect(cache.add(picture, for: key, since: 0))
        }
        #expect(cache.images(for: key).first.map { Pictures.number($0.image) } == 9)
        #expect(cache.memoryUsage <= 2000)
    }
}
