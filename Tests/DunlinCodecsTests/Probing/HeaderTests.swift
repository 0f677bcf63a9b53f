import DunlinCodecs
import DunlinTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Headers of pictures` {
    @Test(arguments: [
        ("headers/little.tiff", ImageFormat.tiff), ("headers/big.tiff", .tiff), ("headers/picture.avif", .avif),
        ("headers/picture.heic", .heif),
    ])
    func `formats that Dunlin cannot decode are named, with the picture's size`(
        path: String, format: ImageFormat
    ) async throws {
        let bytes = try Pictures.bytes(path)
        let info = try ImageDecoder().info(of: bytes)
        #expect(info.format == format && info.size == ImageSize(width: 640, height: 480))
        #expect(info.frameCount == nil)
        #expect(info.orientation == (format == .tiff ? .turnedLeft : .upright))
        let error = ImageError.unsupported(format, what: "only its size can be read")
        await #expect(throws: error) { try await ImageDecoder().decode(bytes) }
        await #expect(throws: error) { for try await _ in ImageDecoder().frames(of: bytes) {} }
        #expect("\(error)".contains(format.rawValue))
    }

    @Test(arguments: ["", "\0", "GIF", "RIFF1234WAVE", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "\u{1}ftypavif"])
    func `bytes that do not begin like a picture have no known format`(text: String) async {
        let bytes = Bytes(text)
        #expect(ImageFormat(sniffing: bytes) == nil)
        await #expect(throws: ImageError.unknownFormat) { try await ImageDecoder().decode(bytes) }
    }

    @Test func `a PNG of forty bytes that claims to be huge is refused by its header alone`() async throws {
        let bytes = try Pictures.bytes("png/huge.png")
        #expect(bytes.count < 40)
        let error = ImageError.limitExceeded(.pixels, value: 3_600_000_000, limit: 64 << 20)
        #expect(throws: error) { try ImageDecoder().info(of: bytes) }
        await #expect(throws: error) { try await ImageDecoder().decode(bytes) }
        #expect("\(error)".contains("3600000000") && "\(error)".contains("ImageLimits.pixels"))
    }

    /// A limit that is just enough, and one that is one less.
    static let limits: [(String, ImageLimits.Kind, Int, @Sendable (inout ImageLimits, Int) -> Void)] = [
        ("png/rgb.png", .pixels, 240, { $0.pixels = $1 }),
        ("jpeg/fine.jpg", .pixels, 240, { $0.pixels = $1 }),
        ("webp/lossy.webp", .pixels, 240, { $0.pixels = $1 }),
        ("gif/plain.gif", .pixels, 240, { $0.pixels = $1 }),
        ("bmp/rgb24.bmp", .pixels, 240, { $0.pixels = $1 }),
        ("bmp/alpha.ico", .pixels, 240, { $0.pixels = $1 }),
        ("jpeg/profile.jpg", .metadataBytes, 300, { $0.metadataBytes = $1 }),
        ("png/rgb-turned.png", .metadataBytes, 26, { $0.metadataBytes = $1 }),
        ("bmp/rgb24.bmp", .decodeBytes, 960, { $0.decodeBytes = $1 }),
        ("gif/disposals.gif", .frames, 4, { $0.frames = $1 }),
        ("gif/disposals.gif", .animationPixels, 960, { $0.animationPixels = $1 }),
        ("webp/animated.webp", .frames, 4, { $0.frames = $1 }),
    ]

    @Test(arguments: limits)
    func `a picture at a limit is decoded, and one beyond it is not`(
        path: String, kind: ImageLimits.Kind, value: Int, set: @Sendable (inout ImageLimits, Int) -> Void
    ) async throws {
        let bytes = try Pictures.bytes(path)
        var limits = ImageLimits()
        set(&limits, value)
        for try await _ in ImageDecoder(limits: limits).frames(of: bytes) {}
        set(&limits, value - 1)
        let decoder = ImageDecoder(limits: limits)
        let error = ImageError.limitExceeded(kind, value: value, limit: value - 1)
        #expect(error.isLimit)
        await #expect(throws: error) { for try await _ in decoder.frames(of: bytes) {} }
    }
}
