internal import CPNG
public import DunlinTypes

extension ImageEncoder {
    /// Returns the picture as PNG, with eight bits a sample, and without alpha if every pixel is opaque.
    public func png(_ picture: ImageBuffer) async throws -> Bytes {
        try await Work.onDefaultPool {
            let hasAlpha = !picture.isOpaque && picture.hasTransparency
            let straight = hasAlpha ? try await picture.convertedInSteps(to: .straight) : picture
            var writer = try PNGWriter(straight, hasAlpha, level: min(max(pngLevel, 0), 9), profile(of: picture))
            let rows = Work.rows(width: picture.width)
            try await Work.inSteps { try writer.step(straight, rows: rows) }
            return writer.output
        }
    }
}

extension ImageBuffer {
    /// Whether some pixel is not opaque.
    var hasTransparency: Bool {
        let bytes = span
        var index = 3
        while index < bytes.count {
            if bytes[index] != 255 { return true }
            index += 4
        }
        return false
    }
}

/// libpng's encoder, which owns what it has written.
private struct PNGWriter: ~Copyable {
    private let encoder: OpaquePointer
    private var row = 0

    init(_ picture: ImageBuffer, _ hasAlpha: Bool, level: Int, _ profile: Bytes) throws(ImageError) {
        guard picture.width <= Int32.max, picture.height <= Int32.max else { throw .invalidSize(picture.size) }
        let opened = profile.withPointer {
            dunlin_png_encoder_open(
                UInt32(picture.width), UInt32(picture.height), hasAlpha, Int32(level), $0, UInt32(clamping: $1))
        }
        guard let opened else { throw .outOfMemory }
        encoder = opened
    }

    deinit { dunlin_png_encoder_close(encoder) }

    mutating func step(_ picture: ImageBuffer, rows: Int) throws(ImageError) -> Bool {
        let count = min(rows, picture.height - row)
        let (encoder, start) = (encoder, row * picture.stride)
        let status = picture.withUnsafeBytes { bytes in
            dunlin_png_write_rows(
                encoder, bytes.bindMemory(to: UInt8.self).baseAddress.map { $0 + start }, picture.stride, UInt32(count))
        }
        row += count
        return try CodecStatus.check(status, .png, String(cString: dunlin_png_encoder_message(encoder)))
    }

    var output: Bytes {
        var count = 0
        let bytes = dunlin_png_encoder_output(encoder, &count)
        return Bytes(Array(UnsafeBufferPointer(start: bytes, count: count)))
    }
}
