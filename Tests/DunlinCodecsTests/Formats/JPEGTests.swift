import DunlinTypes
import Testing

@testable import DunlinCodecs

@Suite(.timeLimit(.minutes(10))) struct `JPEG` {
    /// The picture is small and has steep colours: where they are stored coarsely, they are far off at its edges.
    @Test(arguments: [
        ("fine", 1), ("progressive", 1), ("wide", 10), ("coarse", 10), ("progressive-coarse", 10), ("profile", 1),
        ("turned1", 1),
    ])
    func `a JPEG has about the pixels that were put in`(name: String, distance: Double) async throws {
        let picture = try await ImageDecoder().decode(Pictures.bytes("jpeg/\(name).jpg"))
        #expect(picture.size == Pictures.size && picture.isOpaque)
        let actual = picture.meanDistance(Pictures.opaque)
        #expect(actual <= distance)
    }

    @Test func `inks become the colours they were made of`() async throws {
        let bytes = try Pictures.bytes("jpeg/cmyk.jpg")
        #expect(try ImageDecoder().info(of: bytes).colorModel == .cmyk)
        #expect(try await ImageDecoder().decode(bytes).distance(Pictures.opaque) <= 24)
    }

    /// A picture of one gray, stored as brightness and three other inks by Adobe's rules, and what comes of it where
    /// its mark says that these are the inks themselves, or where it has none.
    @Test func `inks are inverted if Adobe's mark is there, and only then`() async throws {
        let bytes = try Pictures.bytes("jpeg/ink-gray.jpg").array
        let mark = try #require((0..<bytes.count - 16).first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xEE })
        var plain = bytes
        plain[mark + 15] = 0
        let unmarked = Array(bytes[..<mark]) + bytes[(mark + 16)...]
        for (bytes, expected) in [
            (bytes, ImageBuffer.Pixel(100, 100, 100)), (plain, ImageBuffer.Pixel(0, 50, 50)),
            (unmarked, ImageBuffer.Pixel(155, 77, 77)),
        ] {
            #expect(try await ImageDecoder().decode(Bytes(bytes)).distance { _, _ in expected } <= 2)
        }
    }

    @Test func `a gray JPEG is gray`() async throws {
        let bytes = try Pictures.bytes("jpeg/gray.jpg")
        #expect(try ImageDecoder().info(of: bytes).colorModel == .gray)
        let picture = try await ImageDecoder().decode(bytes)
        for x in 0..<20 {
            let pixel = picture[x, 5]
            #expect(pixel.red == pixel.green && pixel.green == pixel.blue && pixel.alpha == 255)
        }
        #expect(picture[19, 11].red > picture[0, 0].red + 150)
    }

    @Test(arguments: ImageOrientation.allCases)
    func `the orientation of a JPEG is applied to its pixels`(orientation: ImageOrientation) async throws {
        let bytes = try Pictures.bytes("jpeg/turned\(orientation.rawValue).jpg")
        let info = try ImageDecoder().info(of: bytes)
        #expect(info.orientation == orientation && info.size == Pictures.size)
        #expect(info.displaySize == (orientation.swapsSides ? Pictures.size.transposed : Pictures.size))
        let plain = try await ImageDecoder().decode(Pictures.bytes("jpeg/fine.jpg"))
        let turned = try await ImageDecoder().decode(bytes)
        #expect(turned.size == info.displaySize)
        #expect(turned == plain.applying(orientation))
        let stored = try await ImageDecoder().decode(bytes, .changed { $0.appliesOrientation = false })
        #expect(stored == plain)
    }

    @Test(arguments: [
        (1000, 800, 125, 100, 1), (1000, 800, 126, 100, 2), (1000, 800, 250, 200, 2), (1000, 800, 251, 200, 4),
        (1000, 800, 500, 400, 4), (1000, 800, 501, 400, 8), (1000, 800, 1000, 800, 8), (7, 7, 1, 1, 1),
    ])
    func `a JPEG is decoded at the smallest scale that loses nothing`(
        width: Int, height: Int, targetWidth: Int, targetHeight: Int, eighths: Int
    ) {
        let size = ImageSize(width: width, height: height)
        let target = ImageSize(width: targetWidth, height: targetHeight)
        #expect(JPEGDecoder.eighths(of: size, for: target) == eighths)
        #expect(JPEGDecoder.eighths(of: size, for: nil) == 8)
    }

    @Test(arguments: [
        // An eighth counts what lies beyond the edges in blocks of eight.
        (10, 6, "fine", 6.0), (5, 3, "fine", 6), (3, 2, "progressive", 30), (12, 20, "turned6", 6),
        (6, 10, "turned6", 6),
    ])
    func `a JPEG that is to be smaller has the mean colours of what it was`(
        width: Int, height: Int, name: String, distance: Double
    ) async throws {
        let bytes = try Pictures.bytes("jpeg/\(name).jpg")
        let whole = try await ImageDecoder().decode(bytes)
        let bounds = ImageSize(width: width, height: height)
        let small = try await ImageDecoder().decode(bytes, .init(fitting: bounds))
        #expect(small.size == whole.size.fitting(bounds))
        #expect(abs(mean(small, \.red) - mean(whole, \.red)) < distance)
        #expect(abs(mean(small, \.green) - mean(whole, \.green)) < distance)
    }

    private func mean(_ picture: ImageBuffer, _ channel: KeyPath<ImageBuffer.Pixel, UInt8>) -> Double {
        var sum = 0
        for y in 0..<picture.height { for x in 0..<picture.width { sum += Int(picture[x, y][keyPath: channel]) } }
        return Double(sum) / Double(picture.size.pixels)
    }
}
