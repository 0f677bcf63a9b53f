import DunlinCodecs
import DunlinTypes
import Foundation

/// The pictures of `Tests/Corpus/make-images`, and the formula they were made by.
enum Pictures {
    static let size = ImageSize(width: 20, height: 12)

    /// What `pixel` in that script says.
    static func pixel(_ x: Int, _ y: Int) -> ImageBuffer.Pixel {
        ImageBuffer.Pixel(UInt8(x * 12), UInt8(y * 20), UInt8((x * 7 + y * 13) % 256), UInt8(255 - x * 10))
    }

    static func opaque(_ x: Int, _ y: Int) -> ImageBuffer.Pixel {
        var pixel = pixel(x, y)
        pixel.alpha = 255
        return pixel
    }

    static func gray(_ value: Int, _ alpha: Int = 255) -> ImageBuffer.Pixel {
        ImageBuffer.Pixel(UInt8(value), UInt8(value), UInt8(value), UInt8(alpha))
    }

    /// The palette's colours are those of the fourth row.
    static func color(_ number: Int) -> ImageBuffer.Pixel { opaque(number, 3) }

    static func bytes(_ path: String) throws -> Bytes {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Corpus/images-" + path)
        return Bytes(Array(try Data(contentsOf: file)))
    }

    /// All files of the corpus that are meant to be decoded.
    static let all = ["png", "jpeg", "webp", "gif", "bmp"].flatMap { folder in
        names(in: folder).filter { $0 != "huge.png" }.map { folder + "/" + $0 }
    }

    static func names(in folder: String) -> [String] {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Corpus/images-" + folder)
        return ((try? FileManager.default.contentsOfDirectory(atPath: path.path)) ?? []).sorted()
    }

    static func buffer(_ pixel: (Int, Int) -> ImageBuffer.Pixel) -> ImageBuffer? { buffer(20, 12, .straight, pixel) }

    /// A picture of the formula's pixels, or another's.
    static func buffer(
        _ width: Int, _ height: Int, _ alpha: ImageBuffer.Alpha = .straight,
        _ pixel: (Int, Int) -> ImageBuffer.Pixel
    ) -> ImageBuffer? {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let value = pixel(x, y)
                pixels += [value.red, value.green, value.blue, value.alpha]
            }
        }
        return ImageBuffer(width: width, height: height, pixels: pixels, alpha: alpha)
    }
}

extension ImageBuffer {
    /// The greatest difference of any sample from what is expected of it.
    func distance(_ expected: (Int, Int) -> Pixel) -> Int {
        var most = 0
        for y in 0..<height {
            for x in 0..<width {
                let (one, other) = (self[x, y], expected(x, y))
                for (left, right) in [
                    (one.red, other.red), (one.green, other.green), (one.blue, other.blue), (one.alpha, other.alpha),
                ] {
                    most = max(most, abs(Int(left) - Int(right)))
                }
            }
        }
        return most
    }

    /// The mean difference of a sample from what is expected of it.
    func meanDistance(_ expected: (Int, Int) -> Pixel) -> Double {
        var sum = 0
        for y in 0..<height {
            for x in 0..<width {
                let (one, other) = (self[x, y], expected(x, y))
                sum += abs(Int(one.red) - Int(other.red)) + abs(Int(one.green) - Int(other.green))
                sum += abs(Int(one.blue) - Int(other.blue)) + abs(Int(one.alpha) - Int(other.alpha))
            }
        }
        return Double(sum) / Double(size.pixels * 4)
    }

    func isExactly(_ expected: (Int, Int) -> Pixel) -> Bool { distance(expected) == 0 }
}

extension ImageDecoder.Options {
    static func changed(_ change: (inout Self) -> Void) -> Self {
        var options = Self()
        change(&options)
        return options
    }
}
