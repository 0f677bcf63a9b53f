import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct `An image that stopped midway` {
    /// A picture of some length, half of which comes at once.
    private struct Halves {
        let whole: Bytes
        let half: Int

        init(number: UInt8 = 7) async throws {
            whole = try await ImageEncoder().png(try Pictures.buffer(32, 32, number: number))
            half = whole.count / 2
        }

        /// The first half, and then nothing.
        func cut(_ fields: Fields) -> MockTransport.Outcome {
            let (whole, half) = (whole, half)
            return .stream(fields: fields, length: whole.count) { index in
                if index == 0 { return whole[0..<half] }
                try await Gate().pass()
                return nil
            }
        }

        func rest(_ fields: Fields, from start: Int? = nil) -> MockTransport.Outcome {
            let half = start ?? half
            let range: Fields = ["Content-Range": "bytes \(half)-\(whole.count - 1)/\(whole.count)"]
            return .stream(
                [whole[half..<whole.count]], status: 206, fields: fields.overlaid(with: range),
                length: whole.count - half)
        }
    }

    private static let fields: Fields = ["Content-Type": "image/png", "ETag": "\"1\""]

    /// Asks for the picture, and leaves when half of it is there.
    private static func stop(_ gallery: Gallery) async throws {
        let receipt = try await gallery.downloader.download(gallery.request("/cat"))
        for await progress in receipt.progress where progress.completed > 0 { break }
        await receipt.cancel()
        try await eventually("it has ended") { await gallery.downloader.isIdle }
    }

    @Test func `an image continues also if the session has an HTTP cache`() async throws {
        let gallery = try Gallery(session: { $0.cache = HTTPSession.Cache(.standard) })
        let halves = try await Halves()
        let fields = Self.fields.overlaid(with: ["Cache-Control": "max-age=60"])
        gallery.transport.on(.get, "/cat").reply(halves.cut(fields))
        let whole = MockTransport.Outcome.respond(fields: fields, body: halves.whole)
        let rest = halves.rest(fields)
        gallery.transport.otherwise { $0.fields["Range"] == nil ? whole : rest }
        try await Self.stop(gallery)
        for _ in 0..<2 {
            let response = try await gallery.downloader.response(for: gallery.request("/cat") { $0.memory = .skip })
            #expect(response.content?.bytes == halves.whole)
        }
    }

    @Test(.rows("ID-24")) func `progress is told to each receipt, to late ones too`()
        async throws
    {
        let (gallery, halves, gate) = (try Gallery(), try await Halves(), Gate())
        let (whole, half) = (halves.whole, halves.half)
        let slow = MockTransport.Outcome.stream(fields: Self.fields, length: whole.count) { index in
            if index == 1 { try await gate.pass() }
            return index == 0 ? whole[0..<half] : index == 1 ? whole[half..<whole.count] : nil
        }
        gallery.transport.on(.get, "/cat").reply(slow)
        let first = try await gallery.downloader.download(gallery.request("/cat"))
        var steps = first.progress.makeAsyncIterator()
        let begun = ImageDownloader.Progress(completed: half, total: whole.count)
        #expect(await steps.next() == begun)
        // One who comes later hears at once how far it is.
        let second = try await gallery.downloader.download(gallery.request("/cat"))
        var later = second.progress.makeAsyncIterator()
        #expect(await later.next() == begun)
        #expect(begun.fraction.map { $0 > 0.4 && $0 < 0.6 } == true)
        try await gate.open()
        _ = try await first.image
        var last: ImageDownloader.Progress?
        while let step = await steps.next() { last = step }
        #expect(last?.completed ?? whole.count == whole.count)
        // After the end there is what was known last, or nothing, and an end.
        for await step in second.progress { #expect(step.completed == whole.count) }
    }
}
