internal import CJPEG
internal import DunlinTypes

/// Decodes JPEG by libjpeg-turbo, baseline and progressive. CMYK is converted by plain multiplication, without a
/// profile.
struct JPEGDecoder: RowDecoder, ~Copyable {
    private let decoder: OpaquePointer
    let size: ImageSize
    let profile: Bytes?
    var alpha: ImageBuffer.Alpha { .straight }
    var hasAlpha: Bool { false }

    private init(_ decoder: OpaquePointer, _ header: dunlin_jpeg_header, _ profile: Bytes?) {
        self.decoder = decoder
        self.profile = profile
        size = ImageSize(width: Int(header.scaled_width), height: Int(header.scaled_height))
    }

    static func open(
        _ input: Bytes, _ info: ImageInfo, eighths: Int, isTolerant: Bool
    ) throws(ImageError) -> JPEGDecoder {
        guard let decoder = dunlin_jpeg_open(isTolerant) else { throw .outOfMemory }
        var header = dunlin_jpeg_header()
        let status = input.withPointer { dunlin_jpeg_read_header(decoder, $0, $1, UInt32(eighths), &header) }
        // A profile for CMYK does not apply to the converted colours.
        let opened = JPEGDecoder(decoder, header, info.colorModel == .cmyk ? nil : info.details.profile)
        _ = try CodecStatus.check(status, .jpeg, String(cString: dunlin_jpeg_message(decoder)))
        let stored = ImageSize(width: Int(header.width), height: Int(header.height))
        guard stored == info.size, opened.size == scaled(stored, eighths: eighths) else {
            throw .damaged(.jpeg, fault: "its decoded size differs from its header's")
        }
        return opened
    }

    deinit { dunlin_jpeg_close(decoder) }

    mutating func step(_ input: Bytes, _ pixels: inout [UInt8], rows: Int) throws(ImageError) -> Bool {
        let (decoder, stride) = (decoder, size.width * 4)
        let status = input.withPointer { bytes, count in
            pixels.withPointer { dunlin_jpeg_read_rows(decoder, bytes, count, $0, stride, UInt32(rows)) }
        }
        return try CodecStatus.check(status, .jpeg, String(cString: dunlin_jpeg_message(decoder)))
    }

    static func scaled(_ size: ImageSize, eighths: Int) -> ImageSize {
        ImageSize(width: (size.width * eighths + 7) / 8, height: (size.height * eighths + 7) / 8)
    }

    /// The smallest scale, in eighths, that loses nothing for a smaller target. The library is quick only at the four
    /// scales used.
    static func eighths(of size: ImageSize, for target: ImageSize?) -> Int {
        guard let target else { return 8 }
        let enough = [1, 2, 4].first { eighths in
            let scaled = scaled(size, eighths: eighths)
            return scaled.width >= target.width && scaled.height >= target.height
        }
        return enough ?? 8
    }
}
