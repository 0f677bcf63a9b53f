import DunlinTypes
import Testing

@testable import DunlinCodecs

@Suite(.timeLimit(.minutes(10))) struct `Resizing` {
    static let filters: [ImageBuffer.Filter] = [.nearest, .bilinear, .mitchell, .lanczos]

    @Test(arguments: filters)
    func `one colour stays that colour at every size, up to the edges`(filter: ImageBuffer.Filter) async throws {
        let color = ImageBuffer.Pixel(10, 200, 90, 120)
        for alpha in [ImageBuffer.Alpha.straight, .premultiplied] {
            let source = try #require(Pictures.buffer(17, 9) { _, _ in color })
            let picture = source.converted(to: alpha)
            let expected = picture[0, 0]
            for size in [(1, 1), (5, 3), (17, 3), (40, 31), (16, 9), (1, 50)] {
                let resized = try await picture.resized(to: ImageSize(width: size.0, height: size.1), filter: filter)
                #expect(resized.size == ImageSize(width: size.0, height: size.1) && resized.alpha == alpha)
                let distance = resized.distance { _, _ in expected }
                #expect(distance <= 1)
            }
        }
    }

    @Test(arguments: filters)
    func `a slope stays a slope`(filter: ImageBuffer.Filter) async throws {
        let source = try #require(Pictures.buffer(64, 4) { x, _ in Pictures.gray(x * 4) })
        let small = try await source.resized(to: ImageSize(width: 16, height: 2), filter: filter)
        for x in 2..<14 { #expect(abs(Int(small[x, 1].red) - (x * 16 + 6)) <= 3) }
        let large = try await source.resized(to: ImageSize(width: 128, height: 4), filter: filter)
        for x in 8..<120 { #expect(abs(Int(large[x, 1].red) - x * 2) <= 3) }
    }

    @Test func `invisible pixels do not colour visible ones`() async throws {
        // Red that is transparent beside opaque blue.
        let source = try #require(
            Pictures.buffer(8, 8) { x, _ in x < 4 ? ImageBuffer.Pixel(255, 0, 0, 0) : ImageBuffer.Pixel(0, 0, 255) })
        for filter in Self.filters {
            let picture = try await source.resized(to: ImageSize(width: 3, height: 3), filter: filter)
            for x in 0..<3 where picture[x, 1].alpha > 0 {
                #expect(picture[x, 1].red == 0 && picture[x, 1].blue == 255)
            }
        }
    }

    @Test func `no colour exceeds its alpha, and no sample its range`() async throws {
        let source = try #require(
            Pictures.buffer(20, 20) { x, y in
                (x / 3 + y / 3) % 2 == 0 ? ImageBuffer.Pixel(255, 255, 255) : ImageBuffer.Pixel(0, 0, 0, 0)
            })
        let picture = source.converted(to: .premultiplied)
        for side in [7, 13, 33] {
            let resized = try await picture.resized(to: ImageSize(width: side, height: side), filter: .lanczos)
            for y in 0..<side {
                for x in 0..<side { #expect(resized[x, y].red <= resized[x, y].alpha) }
            }
        }
    }

    @Test func `the weights of each window add up to one and are symmetrical`() {
        for filter in [ImageBuffer.Filter.bilinear, .mitchell, .lanczos] {
            for (source, target) in [(100, 33), (33, 100), (7, 7), (1, 9), (9, 1)] {
                let weights = ResizingWeights(from: source, to: target, filter)
                #expect(weights.windows.count == target)
                for window in weights.windows {
                    let own = weights.weights[window.start..<window.start + window.count]
                    #expect(abs(own.reduce(0, +) - 1) < 1e-5)
                    #expect(window.first >= 0 && window.first + window.count <= source)
                }
            }
        }
    }

    @Test(arguments: [(0.0, 1.0), (0.5, 0.6366198), (1, 0), (1.5, -0.2122066), (2, 0), (2.5, 0.1273240), (3, 0)])
    func `the sine is right to a millionth`(x: Double, expected: Double) {
        #expect(abs(Sine.normalized(x) - expected) < 1e-6)
    }

    @Test(arguments: [(0, 5), (5, 0), (-1, 5), (1 << 20, 1 << 20)])
    func `an impossible size is an error`(width: Int, height: Int) async throws {
        let source = try #require(Pictures.buffer(2, 2) { _, _ in Pictures.gray(1) })
        await #expect(throws: ImageError.self) {
            try await source.resized(to: ImageSize(width: width, height: height))
        }
    }

    @Test func `a resize that needs too much memory is refused`() async throws {
        let tall = try #require(Pictures.buffer(1, 100_000) { _, _ in Pictures.gray(1) })
        var limits = ImageLimits()
        limits.decodeBytes = 1 << 20
        await #expect(throws: ImageError.self) {
            try await tall.resized(to: ImageSize(width: 1, height: 1), limits: limits)
        }
        #expect(try await tall.resized(to: ImageSize(width: 1, height: 1))[0, 0] == Pictures.gray(1))
    }

    @Test(arguments: [
        (2, 3, 5, 4, 2, 3, 5, 4), (-2, -1, 5, 4, 0, 0, 3, 3), (18, 10, 9, 9, 18, 10, 2, 2),
        (0, 0, Int.max, Int.max, 0, 0, 20, 12), (5, 5, Int.max, 1, 5, 5, 15, 1),
    ])
    func `cropping beyond the edge keeps the part inside`(
        left: Int, top: Int, width: Int, height: Int, x: Int, y: Int, columns: Int, rows: Int
    ) throws {
        let source = try #require(Pictures.buffer(Pictures.pixel))
        let size = ImageSize(width: width, height: height)
        let part = try source.cropped(to: ImageBuffer.Area(left: left, top: top, size: size))
        #expect(part.size == ImageSize(width: columns, height: rows))
        #expect(part.isExactly { Pictures.pixel($0 + x, $1 + y) })
    }

    @Test(arguments: [(20, 0), (-9, 9), (0, 12), (Int.min, 3), (Int.max, 3)])
    func `cropping outside the picture is an error`(left: Int, top: Int) throws {
        let source = try #require(Pictures.buffer(Pictures.pixel))
        let area = ImageBuffer.Area(left: left, top: top, size: ImageSize(width: 9, height: 9))
        #expect(throws: ImageError.invalidSize(area.size)) { try source.cropped(to: area) }
    }

    @Test func `cropping to the centre keeps the middle`() throws {
        let source = try #require(Pictures.buffer(Pictures.pixel))
        let part = try source.cropped(toCenter: ImageSize(width: 4, height: 100))
        #expect(part.isExactly { Pictures.pixel($0 + 8, $1) } && part.height == 12)
    }

    @Test(arguments: [ImageBuffer.Alpha.straight, .premultiplied])
    func `round corners are transparent outside, smooth at their edge, and nothing else`(
        alpha: ImageBuffer.Alpha
    ) throws {
        let source = try #require(Pictures.buffer(20, 12, alpha) { _, _ in ImageBuffer.Pixel(200, 100, 50) })
        let round = source.withRoundCorners(radius: 5)
        #expect(!round.isOpaque)
        for (x, y) in [(0, 0), (19, 0), (0, 11), (19, 11)] { #expect(round[x, y].alpha == 0) }
        for (x, y) in [(5, 0), (0, 5), (10, 6), (14, 11), (19, 6)] { #expect(round[x, y] == source[x, y]) }
        let edge = round[1, 1]
        #expect(edge.alpha > 0 && edge.alpha < 255)
        #expect(alpha == .straight ? edge.red == 200 : edge.red <= edge.alpha)
        #expect(round[18, 10] == edge && round[1, 10] == edge)
        #expect(source.withRoundCorners(radius: 0) == source)
        #expect(source.withRoundCorners(radius: .nan) == source)
        #expect(source.withRoundCorners(radius: 1e9) == source.withRoundCorners(radius: 6))
    }
}
