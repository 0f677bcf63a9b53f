import DunlinCodecs
import DunlinTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Encoding` {
    @Test(arguments: ["GRAY", "CMYK", "XXXX", ""]) func `a profile that does not fit into a PNG is left out`(
        space: String
    ) async throws {
        var profile = [UInt8](repeating: 0, count: space.isEmpty ? 7 : 132)
        if !space.isEmpty {
            profile.replaceSubrange(0..<4, with: [0, 0, 0, 132])
            profile.replaceSubrange(16..<20, with: Array(space.utf8))
            profile.replaceSubrange(36..<40, with: Array("acsp".utf8))
        }
        var picture = try #require(Pictures.buffer(Pictures.opaque))
        picture.colorProfile = Bytes(profile)
        let back = try await ImageDecoder().decode(ImageEncoder().png(picture))
        #expect(back.pixels == picture.pixels && back.colorProfile == nil)
    }

    @Test(arguments: [0, 1, 6, 9, 99, -3])
    func `a PNG that was written is read as the same picture`(level: Int) async throws {
        var encoder = ImageEncoder()
        encoder.pngLevel = level
        for source in [Pictures.buffer(Pictures.pixel), Pictures.buffer(Pictures.opaque)] {
            let picture = try #require(source)
            let bytes = try await encoder.png(picture)
            #expect(try await ImageDecoder().decode(bytes).isExactly { picture[$0, $1] })
        }
    }

    @Test func `a PNG has alpha only if a pixel needs it`() async throws {
        let opaque = try #require(Pictures.buffer(Pictures.opaque))
        #expect(try await ImageDecoder().info(of: ImageEncoder().png(opaque)).hasAlpha == false)
        let other = try #require(Pictures.buffer(Pictures.pixel))
        #expect(try await ImageDecoder().info(of: ImageEncoder().png(other)).hasAlpha)
    }

    @Test func `premultiplied colours are written straight`() async throws {
        let picture = try #require(Pictures.buffer(Pictures.pixel)).converted(to: .premultiplied)
        let bytes = try await ImageEncoder().png(picture)
        let straight = picture.converted(to: .straight)
        #expect(try await ImageDecoder().decode(bytes).isExactly { straight[$0, $1] })
    }

    @Test(arguments: [(100, false, 2.0), (95, true, 3), (60, false, 14), (1, true, 90), (1000, false, 2)])
    func `a JPEG that was written is read as about the same picture`(
        quality: Int, isProgressive: Bool, distance: Double
    ) async throws {
        var encoder = ImageEncoder()
        encoder.jpegQuality = quality
        encoder.isProgressive = isProgressive
        let picture = try #require(Pictures.buffer(Pictures.opaque))
        let bytes = try await encoder.jpeg(picture)
        #expect(try await ImageDecoder().decode(bytes).meanDistance(Pictures.opaque) <= distance)
    }

    @Test(arguments: [ImageBuffer.Alpha.straight, .premultiplied])
    func `a JPEG shows the background behind transparent pixels`(alpha: ImageBuffer.Alpha) async throws {
        let half = ImageBuffer.Pixel(200, 0, 0, 128)
        let picture = try #require(Pictures.buffer(16, 16) { x, _ in x < 8 ? ImageBuffer.Pixel(9, 9, 9, 0) : half })
        var encoder = ImageEncoder()
        encoder.jpegQuality = 100
        encoder.background = ImageBuffer.Pixel(0, 0, 200)
        let shown = try await ImageDecoder().decode(encoder.jpeg(picture.converted(to: alpha)))
        #expect(shown.distance { x, _ in x < 8 ? ImageBuffer.Pixel(0, 0, 200) : ImageBuffer.Pixel(100, 0, 100) } <= 3)
    }

    @Test func `a profile is written with the picture unless switched off`() async throws {
        let source = try await ImageDecoder().decode(Pictures.bytes("png/rgb-profile.png"))
        var encoder = ImageEncoder()
        for keeps in [true, false] {
            encoder.keepsColorProfile = keeps
            for bytes in [try await encoder.png(source), try await encoder.jpeg(source)] {
                let profile = try await ImageDecoder().decode(bytes).colorProfile
                #expect(profile == (keeps ? source.colorProfile : nil))
            }
        }
    }

    @Test func `a JPEG cannot be longer than its format allows`() async throws {
        let long = try #require(Pictures.buffer(65_501, 1) { _, _ in Pictures.gray(1) })
        await #expect(throws: ImageError.invalidSize(long.size)) { try await ImageEncoder().jpeg(long) }
        #expect(try await ImageDecoder().decode(ImageEncoder().png(long)).size == long.size)
    }
}
