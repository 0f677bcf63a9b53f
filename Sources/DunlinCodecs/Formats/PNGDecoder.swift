internal import CPNG
internal import DunlinTypes

/// Decodes PNG by libpng. Samples of 16 bits are rounded to 8; gamma and chromaticities change nothing. An animated PNG
/// gives its still picture, for programs without animations.
struct PNGDecoder: RowDecoder, ~Copyable {
    private let decoder: OpaquePointer
    let size: ImageSize
    let hasAlpha: Bool
    let profile: Bytes?
    var alpha: ImageBuffer.Alpha { .straight }

    private init(_ decoder: OpaquePointer, _ header: dunlin_png_header) {
        self.decoder = decoder
        size = ImageSize(width: Int(header.width), height: Int(header.height))
        hasAlpha = header.has_alpha
        profile = header.profile.map { Bytes(Array(UnsafeBufferPointer(start: $0, count: Int(header.profile_count)))) }
    }

    static func open(
        _ input: Bytes, _ info: ImageInfo, _ limits: ImageLimits, isTolerant: Bool
    ) throws(ImageError) -> PNGDecoder {
        guard let decoder = dunlin_png_open(max(limits.metadataBytes, 4096), isTolerant) else { throw .outOfMemory }
        var header = dunlin_png_header()
        let status = input.withPointer { dunlin_png_read_header(decoder, $0, $1, &header) }
        let opened = PNGDecoder(decoder, header)
        _ = try CodecStatus.check(status, .png, String(cString: dunlin_png_message(decoder)))
        guard opened.size == info.size else {
            throw .damaged(.png, fault: "its decoded size differs from its header's")
        }
        return opened
    }

    deinit { dunlin_png_close(decoder) }

    mutating func step(_ input: Bytes, _ pixels: inout [UInt8], rows: Int) throws(ImageError) -> Bool {
        let (decoder, stride) = (decoder, size.width * 4)
        let status = input.withPointer { bytes, count in
            pixels.withPointer { dunlin_png_read_rows(decoder, bytes, count, $0, stride, UInt32(rows)) }
        }
        return try CodecStatus.check(status, .png, String(cString: dunlin_png_message(decoder)))
    }
}
