import Dunlin
import DunlinCodecs
import DunlinTesting
import Testing

@testable import DunlinImages

@Suite(.timeLimit(.minutes(10))) struct TerminalEncoderTests {
    private static let pictures = [
        TestPicture.gradient(1, 1), TestPicture.gradient(7, 5), TestPicture.gradient(64, 48), TestPicture.disc(31),
        TestPicture.disc(2),
    ]

    private static func style(
        _ method: TerminalImage.Method, _ change: (inout TerminalImage.Style) -> Void = { _ in }
    ) -> TerminalImage.Style {
        var style = TerminalImage.Style(method)
        change(&style)
        return style
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    // MARK: - Blocks

    @Test(arguments: pictures.indices)
    func `blocks show every pixel in its colour, and leave out nearly transparent ones`(index: Int) throws {
        let picture = Self.pictures[index]
        let text = Self.text(BlockEncoder.encode(picture, Self.style(.blocks)))
        let screen = try #require(Screen(blocks: text, width: picture.width))
        let expected = Screen(picture)
        for row in 0..<screen.height {
            for column in 0..<screen.width {
                let pixel = row < picture.height ? expected[column, row] : nil
                try #require(screen[column, row] == pixel, "\(column), \(row)")
            }
        }
    }

    @Test func `blocks use the palette's nearest colours`() throws {
        let picture = TestPicture.gradient(64, 48)
        let style = Self.style(.blocks) { $0.colors = .palette }
        let screen = try #require(Screen(blocks: Self.text(BlockEncoder.encode(picture, style)), width: 64))
        let distance = try #require(screen.distance(from: Screen(picture)))
        // Half of the widest gap between two steps of the cube, in all three channels, where no gray is nearer.
        #expect(distance <= 83)
    }

    @Test(arguments: 16...255)
    func `each colour of the palette is nearest to itself`(number: Int) {
        let color = XtermPalette.parts(number)
        let nearest = XtermPalette.parts(XtermPalette.nearest(color.red, color.green, color.blue))
        #expect(nearest == color)
    }

    @Test func `no colour of the palette is nearer than the one that is taken`() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let (red, green, blue) = (random.next(below: 256), random.next(below: 256), random.next(below: 256))
            func error(_ number: Int) -> Int {
                let color = XtermPalette.parts(number)
                let (r, g, b) = (color.red - red, color.green - green, color.blue - blue)
                return r * r + g * g + b * b
            }
            let least = (16...255).map(error).min()
            #expect(error(XtermPalette.nearest(red, green, blue)) == least, "\(red) \(green) \(blue)")
        }
    }

    @Test func `blocks set a colour only where it changes`() {
        let red = ImageBuffer.Pixel(255, 0, 0)
        let picture = TestPicture.stripes([red, red, ImageBuffer.Pixel(0, 0, 0, 0), red], height: 3)
        #expect(
            Self.text(BlockEncoder.encode(picture, Self.style(.blocks)))
                == "\u{1B}[48;2;255;0;0m  \u{1B}[49m \u{1B}[48;2;255;0;0m \u{1B}[0m\n"
                + "\u{1B}[38;2;255;0;0m▀▀ ▀\u{1B}[0m\n")
    }

    // MARK: - Sixels

    @Test func `a picture of few colours has exactly those in sixel`() throws {
        // Hundredths that are whole numbers of 255.
        let colors = (0...20).map { step in
            let red = UInt8(step * 255 / 20)
            return ImageBuffer.Pixel(red, 255 - red, 51)
        }
        let picture = TestPicture.stripes(colors, height: 13)
        let screen = try #require(Screen(sixels: Self.text(SixelEncoder.encode(picture, Self.style(.sixel)))))
        let distance = try #require(screen.distance(from: Screen(picture)))
        #expect(distance <= 1)
    }

    @Test(arguments: pictures.indices, [2, 16, 256])
    func `sixels show the pixels that are there, in the nearest colours there are`(index: Int, limit: Int) throws {
        let picture = Self.pictures[index]
        let style = Self.style(.sixel) {
            $0.registers = limit
            $0.dithers = false
        }
        let screen = try #require(Screen(sixels: Self.text(SixelEncoder.encode(picture, style))))
        let mean = try #require(screen.meanDistance(from: Screen(picture)))
        #expect(screen.distance(from: Screen(picture)) != nil)
        #expect(mean <= [2: 64.0, 16: 24, 256: 6][limit] ?? 0)
        #expect(Set(screen.pixels.compactMap { $0 }).count <= limit)
    }

    @Test func `dithering keeps the mean of an area that the palette cannot show`() throws {
        let picture = TestPicture.make(60, 60, isOpaque: true) { column, row in
            column == 0 && row == 0
                ? [255, 255, 255, 255] : column == 1 && row == 0 ? [0, 0, 0, 255] : [120, 120, 120, 255]
        }
        let style = Self.style(.sixel) { $0.registers = 2 }
        let screen = try #require(Screen(sixels: Self.text(SixelEncoder.encode(picture, style))))
        let mean = screen.pixels.reduce(0) { $0 + Int($1?.red ?? 0) } / screen.pixels.count
        #expect((115...125).contains(mean))
        #expect(Set(screen.pixels).count == 2)
    }

    @Test func `sixels write long runs with their length`() {
        let picture = TestPicture.stripes(Array(repeating: ImageBuffer.Pixel(255, 255, 255), count: 100), height: 7)
        #expect(
            Self.text(SixelEncoder.encode(picture, Self.style(.sixel)))
                == "\u{1B}P0;1q\"1;1;100;7#0;2;100;100;100#0!100~-#0!100@\u{1B}\\")
    }

    // MARK: - Kitty

    @Test(arguments: pictures.indices)
    func `kitty is sent the pixels themselves`(index: Int) throws {
        let picture = Self.pictures[index]
        let sent = try #require(KittyPicture(Self.text(KittyEncoder.encode(picture))))
        #expect(sent.picture?.pixels == picture.pixels)
        #expect(sent.control["f"] == (picture.isOpaque ? "24" : "32"))
        #expect(sent.control["a"] == "T")
        #expect(sent.control["q"] == "2")
        #expect(sent.chunks.allSatisfy { $0 <= 4096 })
        #expect(sent.chunks.dropLast().allSatisfy { $0 % 4 == 0 })
    }

    @Test func `kitty is sent a file that is shorter than the pixels`() async throws {
        let picture = TestPicture.gradient(64, 48)
        let png = try await ImageEncoder().png(picture)
        let sent = try #require(
            KittyPicture(Self.text(KittyEncoder.encode(picture, png: png, cells: (8, 3), number: 7))))
        #expect(sent.payload == png.array)
        #expect(
            sent.control.filter { !["m", "q", "C"].contains($0.key) }
                == ["a": "T", "f": "100", "c": "8", "r": "3", "i": "7", "p": "1"])
        let long = Bytes(Array(repeating: 0, count: 64 * 48 * 3))
        #expect(KittyPicture(Self.text(KittyEncoder.encode(picture, png: long)))?.control["f"] == "24")
    }

    @Test func `kitty is sent colours that nothing was multiplied into`() throws {
        let picture = TestPicture.stripes([ImageBuffer.Pixel(200, 100, 50, 128)], height: 1)
        let sent = KittyPicture(Self.text(KittyEncoder.encode(picture.converted(to: .premultiplied))))
        let pixel = try #require(sent?.picture)[0, 0]
        #expect(pixel.alpha == 128)
        #expect(abs(Int(pixel.red) - 200) <= 1)
    }

    @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")])
    func `kitty is sent base 64 as it is specified`(bytes: String, text: String) {
        let picture = TestPicture.stripes([ImageBuffer.Pixel(200, 100, 50, 255)], height: 8)
        #expect(Self.text(KittyEncoder.encode(picture, png: Bytes(bytes))).hasSuffix("m=0;\(text)\u{1B}\\"))
    }

    // MARK: - Backgrounds

    @Test(arguments: [(0, nil), (1, 0x0000_64), (128, 0x64_0032), (255, 0xC8_0000)] as [(Int, Int?)])
    func `translucent pixels are mixed with the background`(alpha: Int, expected: Int?) {
        let picture = TestPicture.stripes([ImageBuffer.Pixel(200, 0, 0, UInt8(alpha))], height: 1)
        let pixels = ShownPixels(picture, over: ImageBuffer.Pixel(0, 0, 100))
        let value = pixels[0, 0]
        let parts = ShownPixels.parts(value)
        #expect((value == ShownPixels.nothing) == (expected == nil))
        if let expected {
            #expect(abs(parts.red - expected >> 16) <= 1)
            #expect(abs(parts.blue - expected & 0xFF) <= 1)
        }
    }
}
