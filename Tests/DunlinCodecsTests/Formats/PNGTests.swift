import DunlinCodecs
import DunlinTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct `PNG` {
    typealias Expected = @Sendable (Int, Int) -> ImageBuffer.Pixel

    static let pictures: [(String, Expected)] = [
        ("rgb", Pictures.opaque),
        ("rgba", Pictures.pixel),
        ("rgba-interlaced", Pictures.pixel),
        ("rgb16", Pictures.opaque),
        ("rgba16", Pictures.pixel),
        ("gray", { x, _ in Pictures.gray(x * 12) }),
        ("gray-alpha", { x, _ in Pictures.gray(x * 12, 255 - x * 10) }),
        ("gray16", { x, _ in Pictures.gray(x * 12) }),
        ("gray1", { x, y in Pictures.gray((x + y) % 2 * 255) }),
        ("gray2", { x, y in Pictures.gray((x + y) % 4 * 85) }),
        ("gray4", { x, y in Pictures.gray((x + y) % 16 * 17) }),
        ("palette4", { x, y in Pictures.color((x + y) % 16) }),
        (
            "palette8-transparent",
            { x, y in
                var color = Pictures.color((x + y) % 16)
                color.alpha = UInt8((x + y) % 16 * 10)
                return color
            }
        ),
        ("palette1-interlaced", { x, y in Pictures.color((x + y) % 2) }),
        (
            "rgb-transparent",
            { x, y in
                var color = Pictures.opaque(x, y)
                if x == 3, y == 4 { color.alpha = 0 }
                return color
            }
        ),
        // What is not about pixels changes none.
        ("rgb-profile", Pictures.opaque),
        ("rgb-gamma", Pictures.opaque),
        ("rgb-text", Pictures.opaque),
        ("animated", Pictures.opaque),
    ]

    @Test(arguments: pictures)
    func `every kind of PNG has the pixels that were put in`(name: String, expected: Expected) async throws {
        let picture = try await ImageDecoder().decode(Pictures.bytes("png/\(name).png"))
        #expect(picture.size == Pictures.size)
        let distance = picture.distance(expected)
        #expect(distance == 0)
    }

    @Test(arguments: [
        ("rgb", 8, ImageInfo.ColorModel.rgb, false), ("rgba16", 16, .rgb, true), ("gray1", 1, .gray, false),
        ("gray-alpha", 8, .gray, true), ("palette4", 8, .indexed, false), ("palette8-transparent", 8, .indexed, true),
    ])
    func `the header of a PNG tells what its pixels are`(
        name: String, bits: Int, model: ImageInfo.ColorModel, hasAlpha: Bool
    ) async throws {
        let bytes = try Pictures.bytes("png/\(name).png")
        let info = try ImageDecoder().info(of: bytes)
        #expect(info.format == .png && info.size == Pictures.size && info.frameCount == 1)
        #expect(info.bitsPerComponent == bits && info.colorModel == model && info.hasAlpha == hasAlpha)
        #expect(try await ImageDecoder().decode(bytes).isOpaque == !hasAlpha)
    }

    @Test func `a profile of a PNG is kept as bytes`() async throws {
        let picture = try await ImageDecoder().decode(Pictures.bytes("png/rgb-profile.png"))
        let profile = try #require(picture.colorProfile)
        #expect(profile.count == 272)
        #expect(profile[36..<40] == "acsp")
        let jpeg = try await ImageDecoder().decode(Pictures.bytes("jpeg/profile.jpg"))
        #expect(jpeg.colorProfile == profile)
        let webp = try await ImageDecoder().decode(Pictures.bytes("webp/profile-turned.webp"))
        #expect(webp.colorProfile == profile)
        #expect(try await ImageDecoder().decode(Pictures.bytes("png/rgb.png")).colorProfile == nil)
    }

    @Test func `an animated PNG is its still picture`() async throws {
        let bytes = try Pictures.bytes("png/animated.png")
        #expect(try ImageDecoder().info(of: bytes).isAnimated == false)
        var count = 0
        for try await frame in ImageDecoder().frames(of: bytes) {
            count += 1
            #expect(frame.picture.isExactly(Pictures.opaque) && frame.duration == .zero && frame.index == 0)
        }
        #expect(count == 1)
    }
}
