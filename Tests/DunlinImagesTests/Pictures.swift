import Dunlin
import DunlinImages

/// Pictures that tests make up.
enum Pictures {
    /// Pixels of one colour, with a mark in the first, so that no two numbers look the same.
    static func buffer(_ width: Int, _ height: Int, number: UInt8 = 1, scale: Double = 1) throws -> ImageBuffer {
        var pixels = [UInt8](repeating: 255, count: width * height * 4)
        pixels[0] = number
        pixels[1] = 0
        guard let buffer = ImageBuffer(width: width, height: height, pixels: pixels, isOpaque: true, scale: scale)
        else { throw ImageError.invalidSize(ImageSize(width: width, height: height)) }
        return buffer
    }

    /// A file of the same.
    static func png(_ width: Int = 4, _ height: Int = 3, number: UInt8 = 1) async throws -> Bytes {
        try await ImageEncoder().png(try buffer(width, height, number: number))
    }

    /// The number of a picture.
    static func number(_ picture: ImageBuffer) -> UInt8 { picture[0, 0].red }

    /// A GIF of two frames, of one pixel each.
    static let animation = Bytes([
        0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255,
        0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0,
        0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 1, 0, 0x3B,
    ])
}
