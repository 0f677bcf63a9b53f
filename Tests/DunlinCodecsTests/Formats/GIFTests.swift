import DunlinCodecs
import DunlinTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct `GIF` {
    @Test(arguments: [("plain", 16), ("interlaced", 16)])
    func `a GIF has the pixels that were put in`(name: String, colors: Int) async throws {
        let bytes = try Pictures.bytes("gif/\(name).gif")
        let picture = try await ImageDecoder().decode(bytes)
        #expect(picture.size == Pictures.size)
        #expect(picture.isExactly { Pictures.color(($0 + $1) % 16) })
        let info = try ImageDecoder().info(of: bytes)
        #expect(info.frameCount == 1 && !info.isAnimated && info.colorModel == .indexed)
    }

    @Test func `transparent pixels of a GIF stay transparent`() async throws {
        let picture = try await ImageDecoder().decode(Pictures.bytes("gif/transparent.gif"))
        #expect(!picture.isOpaque)
        #expect(picture[0, 0] == ImageBuffer.Pixel(0, 0, 0, 0))
        #expect(picture[15, 0].alpha == 255)
    }

    /// What four by four pixels show, frame by frame: R, G, B, W and nothing.
    static let animations: [(frames: [GIFFile.Frame], shown: [[String]])] = [
        // What a frame leaves.
        (
            [frame(0, 0, 4, 4, 0), frame(1, 1, 2, 2, 1)],
            [["RRRR", "RRRR", "RRRR", "RRRR"], ["RRRR", "RGGR", "RGGR", "RRRR"]]
        ),
        // Cleared, and only where it was.
        (
            [frame(0, 0, 4, 4, 0), frame(1, 1, 2, 2, 1, disposal: 2), frame(0, 0, 1, 1, 2)],
            [["RRRR", "RRRR", "RRRR", "RRRR"], ["RRRR", "RGGR", "RGGR", "RRRR"], ["BRRR", "R  R", "R  R", "RRRR"]]
        ),
        // As it was before, twice in a row.
        (
            [
                frame(0, 0, 4, 4, 0), frame(0, 0, 4, 2, 1, disposal: 3), frame(0, 0, 2, 4, 2, disposal: 3),
                frame(3, 3, 1, 1, 3),
            ],
            [
                ["RRRR", "RRRR", "RRRR", "RRRR"], ["GGGG", "GGGG", "RRRR", "RRRR"], ["BBRR", "BBRR", "BBRR", "BBRR"],
                ["RRRR", "RRRR", "RRRR", "RRRW"],
            ]
        ),
        // The first frame asks for what was before it: nothing.
        (
            [frame(0, 0, 2, 2, 0, disposal: 3), frame(3, 3, 1, 1, 1)],
            [["RR  ", "RR  ", "    ", "    "], ["    ", "    ", "    ", "   G"]]
        ),
        (
            [frame(0, 0, 4, 4, 0, disposal: 3), frame(3, 3, 1, 1, 1)],
            [["RRRR", "RRRR", "RRRR", "RRRR"], ["    ", "    ", "    ", "   G"]]
        ),
        // Beyond the canvas, partly and wholly, and with nothing in it.
        (
            [
                frame(2, 3, 9, 9, 0), frame(100, 1, 3, 3, 1), frame(0, 100, 3, 3, 1), frame(1, 1, 0, 0, 2),
                frame(0, 0, 1, 1, 3),
            ],
            [
                ["    ", "    ", "    ", "  RR"], ["    ", "    ", "    ", "  RR"], ["    ", "    ", "    ", "  RR"],
                ["    ", "    ", "    ", "  RR"], ["W   ", "    ", "    ", "  RR"],
            ]
        ),
        // Transparent pixels leave what was there, also where the frame is cleared afterwards.
        (
            [frame(0, 0, 4, 4, 0), transparent(disposal: 2), frame(3, 3, 1, 1, 3)],
            [["RRRR", "RRRR", "RRRR", "RRRR"], ["RGRR", "GRRR", "RRRR", "RRRR"], ["  RR", "  RR", "RRRR", "RRRW"]]
        ),
        // A palette of its own.
        ([local()], [["BBBB", "BBBB", "BBBB", "BBBB"]]),
        // Rows out of order.
        ([interlaced()], [["RRRR", "GGGG", "BBBB", "WWWW"]]),
    ]

    private static func frame(
        _ left: Int, _ top: Int, _ width: Int, _ height: Int, _ color: UInt8, disposal: Int = 0
    ) -> GIFFile.Frame {
        GIFFile.Frame(left: left, top: top, width: width, height: height, disposal: disposal, indices: [color])
    }

    private static func transparent(disposal: Int) -> GIFFile.Frame {
        GIFFile.Frame(disposal: disposal, transparent: 0, indices: [0, 1, 1, 0])
    }

    private static func local() -> GIFFile.Frame {
        GIFFile.Frame(width: 4, height: 4, palette: [0, 0, 255] + Array(repeating: 0, count: 9))
    }

    /// Of four rows the first pass has row 0, the third row 2, and the last rows 1 and 3.
    private static func interlaced() -> GIFFile.Frame {
        let rows: [UInt8] = [0, 2, 1, 3]
        return GIFFile.Frame(
            width: 4, height: 4, isInterlaced: true, indices: rows.flatMap { Array(repeating: $0, count: 4) })
    }

    @Test(arguments: animations)
    func `frames are drawn onto one another as their disposals say`(
        frames: [GIFFile.Frame], shown: [[String]]
    ) async throws {
        var file = GIFFile()
        file.frames = frames
        var actual: [[String]] = []
        for try await frame in ImageDecoder().frames(of: file.bytes) { actual.append(text(frame.picture)) }
        #expect(actual == shown)
        #expect(try ImageDecoder().info(of: file.bytes).frameCount == shown.count)
        #expect(try await text(ImageDecoder().decode(file.bytes)) == shown[0])
    }

    private func text(_ picture: ImageBuffer) -> [String] {
        (0..<picture.height).map { y in
            (0..<picture.width).map { x -> String in
                switch picture[x, y] {
                case ImageBuffer.Pixel(255, 0, 0): "R"
                case ImageBuffer.Pixel(0, 255, 0): "G"
                case ImageBuffer.Pixel(0, 0, 255): "B"
                case ImageBuffer.Pixel(255, 255, 255): "W"
                case ImageBuffer.Pixel(0, 0, 0, 0): " "
                default: "?"
                }
            }.joined()
        }
    }

    @Test(arguments: [(0, 100), (1, 100), (2, 20), (3, 30), (10, 100), (65_535, 655_350)])
    func `a frame with a very short duration is shown for a tenth of a second`(
        hundredths: Int, milliseconds: Int
    ) async throws {
        var file = GIFFile()
        file.frames = [GIFFile.Frame(delay: hundredths)]
        var iterator = ImageDecoder().frames(of: file.bytes).makeAsyncIterator()
        #expect(try await iterator.next()?.duration == .milliseconds(milliseconds))
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: [(nil, nil), (0, 0), (3, 4)] as [(UInt8?, Int?)])
    func `the header tells how often an animation repeats`(loops: UInt8?, count: Int?) throws {
        var file = GIFFile()
        file.loops = loops
        file.frames = [GIFFile.Frame()]
        #expect(try ImageDecoder().info(of: file.bytes).loopCount == count)
    }

    @Test func `a GIF without a screen is as large as its first frame says`() async throws {
        var file = GIFFile(width: 0, height: 0)
        file.frames = [GIFFile.Frame(left: 1, top: 2)]
        #expect(try await ImageDecoder().decode(file.bytes).size == ImageSize(width: 3, height: 4))
    }

    @Test func `a GIF that ends between frames, without the last byte, is complete`() async throws {
        var file = GIFFile(hasTrailer: false)
        file.frames = [GIFFile.Frame(), GIFFile.Frame()]
        var count = 0
        for try await _ in ImageDecoder().frames(of: file.bytes) { count += 1 }
        #expect(count == 2)
    }

    @Test func `a GIF without any palette is damaged`() async throws {
        var file = GIFFile(palette: [])
        file.frames = [GIFFile.Frame()]
        await #expect(throws: ImageError.self) { try await ImageDecoder().decode(file.bytes) }
    }
}
