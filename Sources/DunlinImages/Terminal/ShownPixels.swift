internal import DunlinCodecs

/// A picture for a terminal without alpha: each pixel has a colour, or nothing is there.
struct ShownPixels {
    /// Nothing, or red, green and blue after a byte that is not 0.
    typealias Value = UInt32

    static let nothing: Value = 0

    let width: Int
    let height: Int
    private(set) var values: [Value]

    init(_ picture: ImageBuffer, over background: ImageBuffer.Pixel?) {
        let straight = picture.converted(to: .straight)
        (width, height) = (picture.width, picture.height)
        values = []
        values.reserveCapacity(width * height)
        let bytes = straight.span
        for index in stride(from: 0, to: bytes.count, by: 4) {
            let pixel = ImageBuffer.Pixel(bytes[index], bytes[index + 1], bytes[index + 2], bytes[index + 3])
            values.append(Self.value(pixel, over: background))
        }
    }

    static func value(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Value {
        0xFF00_0000 | Value(red) << 16 | Value(green) << 8 | Value(blue)
    }

    static func parts(_ value: Value) -> (red: Int, green: Int, blue: Int) {
        (Int(value >> 16 & 0xFF), Int(value >> 8 & 0xFF), Int(value & 0xFF))
    }

    /// The pixel; nothing beyond the last row.
    subscript(column: Int, row: Int) -> Value {
        row < height ? values[row * width + column] : Self.nothing
    }

    private static func value(_ pixel: ImageBuffer.Pixel, over background: ImageBuffer.Pixel?) -> Value {
        if pixel.alpha == 255 { return value(pixel.red, pixel.green, pixel.blue) }
        guard let background else { return pixel.alpha < 128 ? nothing : value(pixel.red, pixel.green, pixel.blue) }
        if pixel.alpha == 0 { return nothing }
        func mixed(_ front: UInt8, _ back: UInt8) -> UInt8 {
            let alpha = Int(pixel.alpha)
            return UInt8((Int(front) * alpha + Int(back) * (255 - alpha) + 127) / 255)
        }
        return value(
            mixed(pixel.red, background.red), mixed(pixel.green, background.green), mixed(pixel.blue, background.blue))
    }
}
