internal import CWebP
internal import DunlinTypes

/// Decodes a still WebP by libwebp, which gets the file in pieces and decodes as far as each goes.
struct WebPDecoder: RowDecoder, ~Copyable {
    private static let smallestPiece = 64 * 1024
    /// The number of pieces. A piece that ends within certain headers is read again with the next, so there are few.
    private static let mostPieces = 32

    private let decoder: OpaquePointer
    private var position = 0
    let size: ImageSize
    let alpha: ImageBuffer.Alpha
    let hasAlpha: Bool
    let profile: Bytes?

    init(_ info: ImageInfo, _ size: ImageSize, _ alpha: ImageBuffer.Alpha) throws(ImageError) {
        guard
            let decoder = dunlin_webp_open(
                UInt32(size.width), UInt32(size.height), size != info.size, alpha == .premultiplied)
        else { throw .outOfMemory }
        self.decoder = decoder
        self.size = size
        self.alpha = alpha
        hasAlpha = info.hasAlpha
        profile = info.details.profile
    }

    deinit { dunlin_webp_close(decoder) }

    mutating func step(_ input: Bytes, _ pixels: inout [UInt8], rows: Int) throws(ImageError) -> Bool {
        position = min(input.count, position + max(Self.smallestPiece, input.count / Self.mostPieces))
        let (decoder, stride, end) = (decoder, size.width * 4, position)
        let status = input.withPointer { bytes, count in
            pixels.withPointer { dunlin_webp_read(decoder, bytes, end, count, $0, stride) }
        }
        return try CodecStatus.check(status, .webp, "libwebp does not accept it")
    }
}
