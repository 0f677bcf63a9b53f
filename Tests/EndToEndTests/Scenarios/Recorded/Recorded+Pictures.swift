import Dunlin
import DunlinCodecs
import DunlinImages
import DunlinTesting

extension Recorded {
    /// Pictures of a downloader: shared, kept, confirmed, and for whom.
    static let pictures: [Recorded] = [
        picture("a picture is kept") { take, images, url in
            for label in ["first", "second"] { await take.picture(label, images, url) }
        },
        picture("a picture is confirmed by a 304", fields: ["Cache-Control": "max-age=0", "ETag": "\"1\""]) {
            take, images, url in
            for label in ["first", "second"] { await take.picture(label, images, url) }
        },
        picture("a picture is behind a redirect") { take, images, _ in
            await take.picture("first", images, "http://api.test/moved")
            await take.picture("second", images, "http://api.test/moved")
        },
        picture("another user's picture is another picture", fields: ["Cache-Control": "private, max-age=1000"]) {
            take, images, url in
            await take.picture("A", images, url, ["Authorization": "Bearer a"])
            await take.picture("B", images, url, ["Authorization": "Bearer b"])
            await take.picture("A again", images, url, ["Authorization": "Bearer a"])
        },
        picture("a picture of another key is another picture") { take, images, url in
            await take.picture("A", images, url, ["X-Api-Key": "a"])
            await take.picture("B", images, url, ["X-Api-Key": "b"])
        },
        picture("a session's next user gets another picture") { take, images, url in
            try images.session.replace(credentials: .bearer(token: "a"))
            await take.picture("A", images, url)
            try images.session.replace(credentials: .bearer(token: "b"))
            await take.picture("B", images, url)
        },
        picture("two callers get one picture") { take, images, url in
            let (one, two) = (
                try await images.download(.init(.url(url))), try await images.download(.init(.url(url)))
            )
            await take.notePicture("A") { try await one.response }
            await take.notePicture("B") { try await two.response }
        },
        picture("a picture that is none fails") { take, images, _ in
            await take.picture("text", images, "http://api.test/text")
            await take.picture("gone", images, "http://api.test/gone")
        },
    ]

    private static func picture(
        _ name: String, fields: Fields = ["Cache-Control": "max-age=1000"],
        ask: @escaping @Sendable (Take, ImageDownloader, String) async throws -> Void
    ) -> Recorded {
        Recorded(name) { take, session in
            guard let pixels = ImageBuffer(width: 1, height: 1, pixels: [1, 2, 3, 255], isOpaque: true) else { return }
            let png = try await ImageEncoder().png(pixels)
            take.mock.otherwise { request in
                switch request.path {
                case "/moved": return .moved("/cat")
                case "/text": return .respond(fields: ["Content-Type": "text/plain"], body: "cat")
                case "/gone": return .respond(404)
                default: break
                }
                if request.fields["If-None-Match"] != nil { return .respond(304, fields: fields) }
                return .respond(fields: fields.overlaid(with: ["Content-Type": "image/png"]), body: png)
            }
            let cache = try AutoPurgingImageCache(
                capacity: 1 << 20, preferredUsage: 1 << 19, pressure: nil, clock: take.clock)
            let images = ImageDownloader(session: session, cache: cache)
            try await ask(take, images, "http://api.test/cat")
            await images.shutdown()
        }
    }
}

extension Take {
    fileprivate func picture(_ label: String, _ images: ImageDownloader, _ url: String, _ fields: Fields = [:]) async {
        var request = ImageDownloader.Request(.url(url))
        request.fields = fields
        let asked = request
        await notePicture(label) { try await images.response(for: asked) }
    }

    fileprivate func notePicture(_ label: String, _ work: () async throws -> ImageDownloader.Response) async {
        await noteNow(label) {
            let response = try await work()
            return "\(response.picture?.width ?? 0) pixel from \(response.source), \(response.head?.status.code ?? 0)"
        }
    }
}
