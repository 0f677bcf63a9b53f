import DunlinInflate
import DunlinTypes

/// Bodies to compress, and the compressing of them.
enum Payload {
    /// Nothing can be saved on these.
    static func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    /// Something can be saved on these.
    static func prose(_ count: Int) -> [UInt8] {
        noise(count).map { 97 + $0 % 5 }
    }

    static func zeros(_ count: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: count)
    }

    static func encoded(
        _ pieces: [[UInt8]], _ coding: ContentCodec = .gzip, level: Int = 6
    ) throws -> [UInt8] {
        var encoder = try ContentEncoder(coding, level: level)
        var output: [UInt8] = []
        for piece in pieces { output += encoder.encode(Bytes(piece)) }
        return output + encoder.finish()
    }
}
