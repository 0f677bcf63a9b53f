import DunlinCodecs
import Testing

@Suite(.timeLimit(.minutes(10))) struct `WebP` {
    @Test(arguments: [("lossless", false), ("lossless-alpha", true)])
    func `a WebP without loss has the pixels that were put in`(name: String, hasAlpha: Bool) async throws {
        let bytes = try Pictures.bytes("webp/\(name).webp")
        let info = try ImageDecoder().info(of: bytes)
        #expect(info.size == Pictures.size && info.hasAlpha == hasAlpha && info.frameCount == 1)
        let picture = try await ImageDecoder().decode(bytes)
        #expect(picture.isOpaque == !hasAlpha && picture.alpha == .straight)
        #expect(picture.isExactly(hasAlpha ? Pictures.pixel : Pictures.opaque))
    }

    @Test(arguments: [("lossy", false), ("lossy-alpha", true)])
    func `a lossy WebP has about the pixels that were put in`(name: String, hasAlpha: Bool) async throws {
        let bytes = try Pictures.bytes("webp/\(name).webp")
        #expect(try ImageDecoder().info(of: bytes).hasAlpha == hasAlpha)
        let picture = try await ImageDecoder().decode(bytes)
        #expect(picture.isOpaque == !hasAlpha)
        #expect(picture.meanDistance(hasAlpha ? Pictures.pixel : Pictures.opaque) <= 12)
        for x in 0..<20 { #expect(picture[x, 4].alpha == (hasAlpha ? UInt8(255 - x * 10) : 255)) }
    }

    @Test func `libwebp multiplies with alpha as Dunlin does`() async throws {
        let bytes = try Pictures.bytes("webp/lossless-alpha.webp")
        let theirs = try await ImageDecoder().decode(bytes, .changed { $0.alpha = .premultiplied })
        let ours = try await ImageDecoder().decode(bytes).converted(to: .premultiplied)
        #expect(theirs.alpha == .premultiplied)
        #expect(theirs.distance { ours[$0, $1] } <= 1)
    }

    @Test func `the orientation in a WebP is applied`() async throws {
        let bytes = try Pictures.bytes("webp/profile-turned.webp")
        #expect(try ImageDecoder().info(of: bytes).orientation == .turnedLeft)
        let picture = try await ImageDecoder().decode(bytes)
        let plain = try await ImageDecoder().decode(Pictures.bytes("webp/lossy.webp"))
        #expect(picture.size == Pictures.size.transposed)
        #expect(picture.isExactly { plain[$1, 11 - $0] })
    }

    @Test func `a WebP that is to be smaller has the size that was asked for`() async throws {
        for name in ["lossy", "lossless", "lossless-alpha"] {
            let bytes = try Pictures.bytes("webp/\(name).webp")
            for width in [1, 2, 5, 9, 19, 20, 40] {
                let bounds = ImageSize(width: width, height: 100)
                let picture = try await ImageDecoder().decode(bytes, .init(fitting: bounds))
                #expect(picture.size == Pictures.size.fitting(bounds))
            }
        }
    }

    @Test func `the frames of a WebP are those of the GIF it was made of`() async throws {
        let (webp, gif) = (try Pictures.bytes("webp/animated.webp"), try Pictures.bytes("gif/disposals.gif"))
        let info = try ImageDecoder().info(of: webp)
        #expect(info.frameCount == 4 && info.isAnimated && info.loopCount == 0)
        let expected = try await frames(ImageDecoder().frames(of: gif))
        let actual = try await frames(ImageDecoder().frames(of: webp))
        #expect(actual.count == 4 && expected.count == 4)
        for (one, other) in zip(actual, expected) {
            #expect(one.picture.isExactly { other.picture[$0, $1] })
            #expect(one.duration == other.duration)
        }
        #expect(try await ImageDecoder().decode(webp).isExactly { expected[0].picture[$0, $1] })
    }

    private func frames(_ sequence: ImageFrames) async throws -> [ImageFrame] {
        var frames: [ImageFrame] = []
        for try await frame in sequence { frames.append(frame) }
        return frames
    }
}
