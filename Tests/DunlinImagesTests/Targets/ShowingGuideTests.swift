import Dunlin
import DunlinImages
import DunlinTesting
import Synchronization
import Testing

private final class View: ImageTarget {
    private let state = Mutex<[ImageSlot: ImageSize]>([:])

    var shown: [ImageSlot: ImageSize] { state.withLock { $0 } }

    func show(_ image: ImageBuffer?, in slot: ImageSlot) { state.withLock { $0[slot] = image?.size } }
}

/// The snippets of the guide to showing images, word for word; those on terminals are with what asks terminals.
@Suite(.timeLimit(.minutes(10))) struct `Guide to showing images` {
    @Test func `the examples about views run as written`() async throws {
        let transport = MockTransport()
        let png = try await ImageEncoder().png(TestPicture.gradient(3, 2))
        transport.otherwise { _ in .respond(fields: ["Content-Type": "image/png"], body: png) }
        let downloader = ImageDownloader(session: try HTTPSession(.init(transport: transport)))
        let (avatar, silhouette) = (View(), TestPicture.disc(4))

        let binding = ImageBinding(avatar, from: downloader)
        try await binding.show(
            "http://a.test/1.png", placeholder: .image(silhouette))
        try await binding.show(
            "http://a.test/2.png", in: ImageSlot(.background, for: .selected))

        let size = ImageSize(width: 3, height: 2)
        #expect(avatar.shown == [.image: size, ImageSlot(.background, for: .selected): size])
    }
}
