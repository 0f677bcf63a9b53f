import DunlinCodecs
import DunlinTypes
import Foundation

/// `ImageBench decode FILE TIMES` decodes a picture and prints the processor time of the quickest and the median decode
/// in microseconds, and a sum of the pixels, as `Peers/images.c` does. `ImageBench make FOLDER` makes pictures.
@main
enum ImageBench {
    static func main() async throws {
        let words = CommandLine.arguments
        switch words.dropFirst().first {
        // Like most callers on the default pool; from the main thread it would be two switches of threads more.
        case "decode": try await Task.detached { try await decode(words[2], times: Int(words[3]) ?? 1) }.value
        case "make": try await make(words[2])
        default: print("ImageBench decode FILE TIMES | make FOLDER")
        }
    }

    private static func decode(_ path: String, times: Int) async throws {
        let bytes = Bytes(Array(try Data(contentsOf: URL(filePath: path))))
        var taken: [Double] = []
        var sum: UInt32 = 0
        for _ in 0..<times {
            let start = microseconds()
            let picture = try await ImageDecoder().decode(bytes)
            taken.append(microseconds() - start)
            sum = picture.withUnsafeBytes { $0.reduce(0) { $0 &* 31 &+ UInt32($1) } }
        }
        taken.sort()
        print(Int(taken[0].rounded()), Int(taken[times / 2].rounded()), sum)
    }

    private static func microseconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return Double(now.tv_sec) * 1e6 + Double(now.tv_nsec) / 1e3
    }

    /// Waves with some noise, which no format finds easy and none impossible.
    private static func make(_ folder: String) async throws {
        for (name, width, height) in [("small", 240, 160), ("large", 3000, 2000)] {
            var state: UInt32 = 1
            var pixels: [UInt8] = []
            for y in 0..<height {
                for x in 0..<width {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    let noise = Int(state >> 29)
                    let wave = Int(40 * (sin(Double(x) / 37) + cos(Double(y) / 53)))
                    pixels += [UInt8(100 + wave + noise), UInt8(128 + wave / 2 + noise), UInt8(150 - wave), 255]
                }
            }
            guard let picture = ImageBuffer(width: width, height: height, pixels: pixels) else { return }
            var encoder = ImageEncoder()
            try await write(encoder.png(picture), folder, name + ".png")
            try await write(encoder.jpeg(picture), folder, name + ".jpg")
            encoder.isProgressive = true
            try await write(encoder.jpeg(picture), folder, name + "-progressive.jpg")
        }
    }

    private static func write(_ bytes: Bytes, _ folder: String, _ name: String) throws {
        try Data(bytes.array).write(to: URL(filePath: folder).appending(path: name))
    }
}
