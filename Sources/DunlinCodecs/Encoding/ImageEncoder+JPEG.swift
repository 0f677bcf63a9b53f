internal import CJPEG
public import DunlinTypes

extension ImageEncoder {
    /// Returns the picture as JPEG, with the background behind transparent pixels.
    public func jpeg(_ picture: ImageBuffer) async throws -> Bytes {
        try await Work.onDefaultPool {
            var writer = try JPEGWriter(picture, self, profile(of: picture))
            let rows = Work.rows(width: picture.width)
            try await Work.inSteps { try writer.step(picture, rows: rows) }
            return writer.output
        }
    }
}

/// libjpeg-turbo's encoder, which owns what it has written.
private struct JPEGWriter: ~Copyable {
    /// The longest side that the library writes, though the format allows 65,535.
    private static let longestSide = 65_500

    private let encoder: OpaquePointer
    private let background: ImageBuffer.Pixel
    private var row = 0

    init(_ picture: ImageBuffer, _ settings: ImageEncoder, _ profile: Bytes) throws(ImageError) {
        guard max(picture.width, picture.height) <= Self.longestSide else { throw .invalidSize(picture.size) }
        let quality = min(max(settings.jpegQuality, 1), 100)
        let opened = profile.withPointer {
            dunlin_jpeg_encoder_open(
                UInt32(picture.width), UInt32(picture.height), Int32(quality), quality >= 90, settings.isProgressive,
                $0, UInt32(clamping: $1))
        }
        guard let opened else { throw .outOfMemory }
        encoder = opened
        background = settings.background
    }

    deinit { dunlin_jpeg_encoder_close(encoder) }

    mutating func step(_ picture: ImageBuffer, rows: Int) throws(ImageError) -> Bool {
        let count = min(rows, picture.height - row)
        let (encoder, stride) = (encoder, picture.stride)
        let part = Bytes(picture.pixels, in: row * stride..<(row + count) * stride)
        let opaque = picture.isOpaque ? part : covered(part, picture.alpha)
        let status = opaque.withPointer { bytes, _ in dunlin_jpeg_write_rows(encoder, bytes, stride, UInt32(count)) }
        row += count
        return try CodecStatus.check(status, .jpeg, String(cString: dunlin_jpeg_encoder_message(encoder)))
    }

    /// Returns the pixels drawn over the background.
    private func covered(_ pixels: Bytes, _ alpha: ImageBuffer.Alpha) -> Bytes {
        var pixels = pixels.array
        let behind = [background.red, background.green, background.blue]
        for index in stride(from: 0, to: pixels.count, by: 4) {
            let opacity = pixels[index + 3]
            if opacity == 255 { continue }
            for channel in 0..<3 {
                let value = pixels[index + channel]
                let front = alpha == .premultiplied ? value : AlphaConversion.premultiplied(value, opacity)
                let back = AlphaConversion.premultiplied(behind[channel], 255 - opacity)
                pixels[index + channel] = UInt8(clamping: Int(front) + Int(back))
            }
        }
        return Bytes(pixels)
    }

    var output: Bytes {
        var count = 0
        let bytes = dunlin_jpeg_encoder_output(encoder, &count)
        return Bytes(Array(UnsafeBufferPointer(start: bytes, count: count)))
    }
}
