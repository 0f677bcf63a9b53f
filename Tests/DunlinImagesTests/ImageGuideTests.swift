import Dunlin
import DunlinImages
import DunlinTesting
import FoundationEssentials
import Testing

/// The snippets of the guides to images, word for word.
@Suite(.timeLimit(.minutes(10))) struct `Guides to images` {
    private static func client() async throws -> HTTPSession {
        let transport = MockTransport()
        let fields: Fields = ["Content-Type": "image/png"]
        let png = try await ImageEncoder().png(try Pictures.buffer(200, 100))
        transport.otherwise { _ in .respond(fields: fields, body: png) }
        return try HTTPSession(.init(baseURL: "http://a.test", transport: transport))
    }

    @Test func `the examples about the overview of images run as written`() async throws {
        let client = try await Self.client()

        let downloader = ImageDownloader(session: client)
        let avatar = try await downloader.image(
            "users/42/avatar.png",
            filters: [.fit(into: ImageSize(width: 64, height: 64))])

        #expect(avatar.size == ImageSize(width: 64, height: 32))

        let response = try await client.get("cat.jpg", as: .image)
        print(response.value.info.displaySize)
        let pixels = try await response.value.decoded()

        #expect(pixels.size == ImageSize(width: 200, height: 100))
        var encoder = ImageEncoder()
        encoder.jpegQuality = 90
        let jpeg = try await encoder.jpeg(pixels)
        let png = try await encoder.png(pixels)
        try await client.put(
            "users/42/avatar.png",
            body: .bytes(png, contentType: "image/png"))

        #expect(jpeg.array.starts(with: [0xFF, 0xD8]) && png.array.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }

    @Test func `the examples about downloading images run as written`() async throws {
        let client = try await Self.client()
        let downloader = ImageDownloader(session: client)
        let nextPage = [ImageDownloader.Request("covers/2.jpg")]
        try await receipts(downloader, ImageDownloader.Request("cat.jpg"))

        await downloader.prefetch(nextPage)
        let cover = try await downloader.image(
            "covers/1.jpg", priority: .high)

        let thumbnail = try await downloader.image(
            "cat.jpg",
            filters: [
                .fill(ImageSize(width: 64, height: 64)),
                .roundCorners(radius: 8),
            ])

        var request = ImageDownloader.Request("cat.jpg")
        request.cacheMode = .reloading
        let newest = try await downloader.image(for: request)
        try await downloader.invalidate("cat.jpg")

        let cache = try AutoPurgingImageCache(
            capacity: 32 << 20, preferredUsage: 16 << 20)
        let small = ImageDownloader(session: client, cache: cache)

        #expect(cover.width == 200)
        #expect(thumbnail.size == ImageSize(width: 64, height: 64))
        #expect(newest.width == 200)
        #expect(small.cache === cache)
    }

    private func receipts(_ downloader: ImageDownloader, _ request: ImageDownloader.Request) async throws {
        let receipt = try await downloader.download(request)
        for await progress in receipt.progress {
            print(progress.completed, progress.total ?? 0)
        }
        let image = try await receipt.image

        #expect(image.width == 200)
    }

    // MARK: - The text of the articles

    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized
    private static let catalog = "Sources/DunlinImages/DunlinImages.docc"

    private static func lines(_ path: String) throws -> [String] {
        let text = String(decoding: try Data(contentsOf: package.appending(path: path)), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) }
    }

    /// Name, and how many snippets there are.
    @Test(arguments: [("DunlinImages.md", 3), ("DownloadingImages.md", 5)])
    func `each snippet stands here, and is no wider than a page`(name: String, count: Int) throws {
        let here = try Self.lines("Tests/DunlinImagesTests/ImageGuideTests.swift")
        let snippets = try Self.lines("\(Self.catalog)/\(name)").split(separator: "```swift").dropFirst()
            .map { Array($0.prefix { $0 != "```" }) }
        #expect(snippets.count == count)
        for snippet in snippets {
            let isHere = here.indices.contains { start in
                here[start...].starts(with: snippet)
            }
            #expect(isHere, "\(snippet.joined(separator: "\n"))")
        }
        let text = String(
            decoding: try Data(contentsOf: Self.package.appending(path: "\(Self.catalog)/\(name)")), as: UTF8.self)
        for code in text.split(separator: "```swift").dropFirst() {
            for line in code.prefix(upTo: code.firstRange(of: "```")?.lowerBound ?? code.endIndex).split(
                separator: "\n")
            {
                #expect(line.count <= 76, "\(line)")
            }
        }
    }
}
