import DunlinCodecs
import DunlinTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Bitmaps and icons of Windows` {
    typealias Expected = @Sendable (Int, Int) -> ImageBuffer.Pixel

    static let pictures: [(String, Bool, Expected)] = [
        ("bmp/rgb24.bmp", true, Pictures.opaque),
        ("bmp/rgb24-down.bmp", true, Pictures.opaque),
        // Its fourth byte means nothing.
        ("bmp/rgb32.bmp", true, Pictures.opaque),
        ("bmp/rgba32.bmp", false, Pictures.pixel),
        (
            "bmp/rgb565.bmp", true,
            { x, y in
                let color = Pictures.opaque(x, y)
                func wide(_ value: UInt8, _ bits: Int) -> UInt8 {
                    let most = 1 << bits - 1
                    return UInt8((Int(value >> UInt8(8 - bits)) * 255 + most / 2) / most)
                }
                return ImageBuffer.Pixel(wide(color.red, 5), wide(color.green, 6), wide(color.blue, 5))
            }
        ),
        ("bmp/palette8.bmp", true, { Pictures.color(($0 + $1) % 16) }),
        ("bmp/palette4.bmp", true, { Pictures.color(($0 + $1) % 16) }),
        ("bmp/palette1.bmp", true, { Pictures.color(($0 + $1) % 2) }),
        ("bmp/runs8.bmp", true, { Pictures.color(($0 + $1) % 16) }),
        ("bmp/runs4.bmp", true, { Pictures.color(($1 + $0 % 2) % 16) }),
        ("bmp/alpha.ico", false, Pictures.pixel),
        ("bmp/mask.ico", false, { x, y in x < 4 ? ImageBuffer.Pixel(0, 0, 0, 0) : Pictures.opaque(x, y) }),
        ("bmp/cursor.cur", false, { x, y in x < 4 ? ImageBuffer.Pixel(0, 0, 0, 0) : Pictures.opaque(x, y) }),
    ]

    @Test(arguments: pictures)
    func `every kind of bitmap has the pixels that were put in`(
        path: String, isOpaque: Bool, expected: Expected
    ) async throws {
        let bytes = try Pictures.bytes(path)
        let picture = try await ImageDecoder().decode(bytes)
        #expect(picture.size == Pictures.size && picture.isOpaque == isOpaque)
        let distance = picture.distance(expected)
        #expect(distance == 0)
        let info = try ImageDecoder().info(of: bytes)
        #expect(info.size == Pictures.size && info.hasAlpha == !isOpaque)
        #expect(info.format == (path.hasSuffix("bmp") ? .bmp : .ico))
    }

    @Test func `an icon may hold a PNG`() async throws {
        let picture = try await ImageDecoder().decode(Pictures.bytes("bmp/png.ico"))
        #expect(picture.size == ImageSize(width: 2, height: 2))
        #expect(picture[1, 1] == ImageBuffer.Pixel(1, 2, 3))
    }

    /// What is changed in the headers of a bitmap of 24 bits: where, to which four bytes, and what comes of it.
    static let lies: [(offset: Int, value: UInt32, error: ImageError)] = [
        (18, UInt32(bitPattern: -20), .damaged(.bmp, fault: "its size is -20 x 12")),
        (18, 0, .damaged(.bmp, fault: "its size is 0 x 12")),
        (22, 0x8000_0000, .damaged(.bmp, fault: "its size is 20 x -2147483648")),
        (18, 0x7FFF_FFFF, .limitExceeded(.pixels, value: 25_769_803_764, limit: 64 << 20)),
        (22, 0x8000_0001, .limitExceeded(.pixels, value: 42_949_672_940, limit: 64 << 20)),
        (10, 0xFFFF_FFFF, .truncated(.bmp)),
        (14, 41, .damaged(.bmp, fault: "its header has an invalid length of 41 bytes")),
        (28, 7, .damaged(.bmp, fault: "compression 0 does not allow 7 bits a pixel")),
        (30, 4, .unsupported(.bmp, what: "its pixels are stored as JPEG or PNG")),
        (30, 1, .damaged(.bmp, fault: "compression 1 does not allow 24 bits a pixel")),
    ]

    @Test(arguments: lies)
    func `a bitmap with false headers is an error`(offset: Int, value: UInt32, error: ImageError) async throws {
        var bytes = try Pictures.bytes("bmp/rgb24.bmp").array
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(index * 8)) }
        await #expect(throws: error) { try await ImageDecoder().decode(Bytes(bytes)) }
    }

    @Test func `a bitmap that claims to be larger than anything is refused whatever the limits`() async throws {
        var bytes = try Pictures.bytes("bmp/rgb24.bmp").array
        for index in 18..<26 { bytes[index] = index % 4 == 1 ? 0x7F : 0xFF }
        var limits = ImageLimits()
        limits.pixels = .max
        limits.decodeBytes = .max
        let decoder = ImageDecoder(limits: limits)
        await #expect(throws: ImageError.limitExceeded(.pixels, value: 0x7FFF_FFFF * 0x7FFF_FFFF, limit: 1 << 40)) {
            try await decoder.decode(Bytes(bytes), .init(fitting: ImageSize(width: 9, height: 9)))
        }
    }

    @Test(arguments: [18, 14])
    func `an icon whose picture lies beyond its end is an error`(offset: Int) throws {
        var bytes = try Pictures.bytes("bmp/png.ico").array
        for index in 0..<4 { bytes[offset + index] = 0xFF }
        #expect(throws: ImageError.truncated(.ico)) { try ImageDecoder().info(of: Bytes(bytes)) }
    }
}
