import DunlinCodecs
import DunlinTypes
import Testing

@Suite struct `Pixels` {
    @Test(arguments: [(0, 0, 0), (0, 5, 0), (3, 3, 35), (1, 1, 4), (Int.max, 2, 0), (-1, -1, 4)])
    func `a picture has four bytes for each of at least one pixel`(width: Int, height: Int, count: Int) {
        let picture = ImageBuffer(width: width, height: height, pixels: [UInt8](repeating: 1, count: count))
        #expect((picture != nil) == (width == 1))
    }

    @Test func `rows, pixels and bytes are the same memory`() throws {
        let picture = try #require(Pictures.buffer(Pictures.pixel))
        #expect(picture.stride == 80 && picture.byteCount == 960 && picture.span.count == 960)
        let row = picture.row(3)
        #expect(row.count == 80)
        #expect(row[8] == picture[2, 3].red && row[11] == picture[2, 3].alpha)
        #expect(picture.withUnsafeBytes { $0.count } == 960)
        #expect(picture.pixels[3 * 80 + 9] == picture[2, 3].green)
        #expect("\(picture)" == "20 x 12 pixels")
    }

    @Test(arguments: 0...255)
    func `premultiplied alpha is undone as exactly as possible`(alpha: Int) throws {
        let picture = try #require(
            Pictures.buffer(256, 1) { x, _ in ImageBuffer.Pixel(UInt8(x), UInt8(255 - x), 7, UInt8(alpha)) })
        let product = picture.converted(to: .premultiplied)
        let most = UInt8(alpha)
        for x in 0..<256 {
            #expect(product[x, 0].red == UInt8((x * alpha + 127) / 255) && product[x, 0].blue <= most)
        }
        let back = product.converted(to: .straight)
        let error = alpha == 0 ? 255 : (255 + 2 * alpha - 1) / (2 * alpha)
        #expect(back.distance { alpha == 0 ? ImageBuffer.Pixel(0, 0, 0, 0) : picture[$0, $1] } <= error)
    }

    @Test func `turning and turning back gives the same picture`() throws {
        let picture = try #require(Pictures.buffer(Pictures.pixel))
        let back: [ImageOrientation: ImageOrientation] = [.turnedLeft: .turnedRight, .turnedRight: .turnedLeft]
        for orientation in ImageOrientation.allCases {
            let turned = picture.applying(orientation)
            #expect(turned.applying(back[orientation] ?? orientation) == picture)
        }
        #expect(picture.applying(.turnedLeft)[0, 0] == picture[0, 11])
        #expect(picture.applying(.turnedRight)[0, 0] == picture[19, 0])
        #expect(picture.applying(.transposed)[3, 5] == picture[5, 3])
    }

    @Test(arguments: [
        (1000, 500, 100, 100, 100, 50), (500, 1000, 100, 100, 50, 100), (50, 50, 100, 100, 50, 50),
        (10_000, 1, 100, 100, 100, 1), (3, 2, 2, 2, 2, 1), (Int.max, Int.max, 10, 10, 10, 10),
    ])
    func `a size that fits keeps its shape and never grows`(
        width: Int, height: Int, boundsWidth: Int, boundsHeight: Int, fitWidth: Int, fitHeight: Int
    ) {
        let size = ImageSize(width: width, height: height)
        let fit = size.fitting(ImageSize(width: boundsWidth, height: boundsHeight))
        #expect(fit == ImageSize(width: fitWidth, height: fitHeight))
    }

    @Test(arguments: [(1000, 500, 100, 100, 200, 100), (500, 1000, 100, 100, 100, 200), (50, 50, 100, 20, 100, 100)])
    func `a size that covers keeps its shape`(
        width: Int, height: Int, boundsWidth: Int, boundsHeight: Int, coverWidth: Int, coverHeight: Int
    ) {
        let size = ImageSize(width: width, height: height)
        let cover = size.covering(ImageSize(width: boundsWidth, height: boundsHeight))
        #expect(cover == ImageSize(width: coverWidth, height: coverHeight))
    }
}
