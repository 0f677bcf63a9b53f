import DunlinTypes

/// A GIF that is written without compressing: each number of a colour is a code of its own.
struct GIFFile {
    struct Frame {
        var left = 0
        var top = 0
        var width = 2
        var height = 2
        var disposal = 0
        var delay = 10
        var transparent: UInt8?
        var isInterlaced = false
        /// Colours of three bytes.
        var palette: [UInt8] = []
        /// One number for all pixels, or one for each, in the file's order of rows.
        var indices: [UInt8] = [0]
    }

    var width = 4
    var height = 4
    var palette: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
    var loops: UInt8?
    var frames: [Frame] = []
    var hasTrailer = true

    var bytes: Bytes { Bytes(array) }

    var array: [UInt8] {
        var bytes = Array("GIF89a".utf8) + Self.little(width) + Self.little(height)
        bytes += [palette.isEmpty ? 0 : 0x81, 0, 0] + palette
        if let loops { bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, loops, 0, 0] }
        for frame in frames { bytes += Self.bytes(frame) }
        return hasTrailer ? bytes + [0x3B] : bytes
    }

    static func little(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }

    private static func bytes(_ frame: Frame) -> [UInt8] {
        let flags = UInt8(frame.disposal << 2) | (frame.transparent == nil ? 0 : 1)
        var bytes: [UInt8] = [0x21, 0xF9, 4, flags] + little(frame.delay) + [frame.transparent ?? 0, 0]
        bytes += [0x2C] + little(frame.left) + little(frame.top) + little(frame.width) + little(frame.height)
        bytes += [(frame.palette.isEmpty ? 0 : 0x81) | (frame.isInterlaced ? 0x40 : 0)] + frame.palette + [2]
        let count = frame.width * frame.height
        let indices = frame.indices.count == 1 ? Array(repeating: frame.indices[0], count: count) : frame.indices
        let data = codes(indices)
        for start in stride(from: 0, to: data.count, by: 255) {
            let block = data[start..<min(start + 255, data.count)]
            bytes += [UInt8(block.count)] + block
        }
        return bytes + [0]
    }

    /// Codes of three bits; a clear code (4) before every second keeps them that short. The end is 5.
    private static func codes(_ indices: [UInt8]) -> [UInt8] {
        var codes: [UInt8] = []
        for (number, index) in indices.enumerated() {
            if number % 2 == 0 { codes.append(4) }
            codes.append(index)
        }
        codes.append(5)
        var (bytes, buffer, bits): ([UInt8], UInt32, UInt32) = ([], 0, 0)
        for code in codes {
            buffer |= UInt32(code) << bits
            bits += 3
            while bits >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: buffer))
                buffer >>= 8
                bits -= 8
            }
        }
        return bits > 0 ? bytes + [UInt8(truncatingIfNeeded: buffer)] : bytes
    }
}
