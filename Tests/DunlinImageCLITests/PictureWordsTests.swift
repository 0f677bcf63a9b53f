import Dunlin
import DunlinImages
import Testing

@testable import DunlinImageCLI

@Suite(.timeLimit(.minutes(10))) struct PictureWordsTests {
    /// A GIF of two frames, of one pixel each.
    private static let animation: [UInt8] = [
        0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255,
        0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0,
        0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 1, 0, 0x3B,
    ]

    @Test func `an animation is said with its frames`() throws {
        let info = try ImageInfo(of: Bytes(Self.animation))
        #expect(PictureWords.of(info, bytes: 90).hasPrefix("GIF, 1 x 1 pixels, 2 frames, a palette, 8 bits, 90 B"))
    }

    @Test func `a size is said in the unit that suits it`() async throws {
        let picture = try #require(ImageBuffer(width: 1, height: 1, pixels: [1, 2, 3, 4]))
        let info = try ImageInfo(of: try await ImageEncoder().png(picture))
        #expect(PictureWords.of(info, bytes: 9_999).hasSuffix("RGB with alpha, 8 bits, 9999 B"))
        #expect(PictureWords.of(info, bytes: 10_240).hasSuffix(", 10 KiB"))
        #expect(PictureWords.of(info, bytes: 100 << 20).hasSuffix(", 100 MiB"))
    }

    @Test(
        arguments: [
            (nil, nil), (.noTerminal, nil), (.dumbTerminal, "this terminal shows no pictures"),
            (.noColor, "NO_COLOR is set"),
            (.noUnicode, "this terminal shows no pictures, and its locale is not UTF-8; --as blocks draws anyway"),
        ] as [(TerminalImage.Refusal?, String?)])
    func `the command says why there is no picture, unless that is plain to see`(
        refusal: TerminalImage.Refusal?, reason: String?
    ) {
        #expect(PictureWords.reason(refusal) == reason)
    }
}
