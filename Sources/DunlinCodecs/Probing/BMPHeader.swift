internal import DunlinTypes

/// The header of a Windows bitmap, alone or in an icon, where its height counts the mask as well.
struct BMPHeader {
    /// The position of a colour's bits in a pixel.
    struct Mask {
        let shift: UInt32
        let most: UInt32

        /// Creates a mask; nil for one without bits or with gaps.
        init?(_ bits: UInt32) {
            guard bits != 0 else { return nil }
            shift = UInt32(bits.trailingZeroBitCount)
            most = bits >> shift
            guard most & (most &+ 1) == 0 else { return nil }
        }

        func value(_ pixel: UInt32) -> UInt8 {
            let value = UInt64(pixel >> shift & most)
            return UInt8(truncatingIfNeeded: (value * 255 + UInt64(most) / 2) / UInt64(most))
        }
    }

    enum Coding {
        case plain
        case runs
        case masks(red: Mask?, green: Mask?, blue: Mask?, alpha: Mask?)
    }

    let size: ImageSize
    let isTopDown: Bool
    let bits: Int
    let coding: Coding
    /// The palette's offset, its number of colours, and the bytes of each.
    let palette: (start: Int, count: Int, width: Int)
    /// The offset of the pixels.
    let pixels: Int
    /// Whether it is in an icon, where the mask follows the pixels.
    let isIcon: Bool

    /// The bytes of a stored row, padded to four.
    var rowLength: Int { Self.rowLength(size.width, bits) }
    var maskLength: Int { Self.rowLength(size.width, 1) }
    /// Whether the pixels themselves have alpha.
    var hasAlphaMask: Bool {
        if case .masks(_, _, _, .some) = coding { true } else { false }
    }
    var hasAlpha: Bool { hasAlphaMask || isIcon }

    static func rowLength(_ width: Int, _ bits: Int) -> Int { (width * bits + 31) / 32 * 4 }
}

extension BMPHeader {
    private struct Fields {
        let length: Int
        let width: Int32
        let height: Int32
        let bits: Int
        var compression: UInt32 = 0
        var colors = 0
    }

    /// Reads the header at an offset. In a file the pixels' offset has been read before; in an icon it is nil.
    init(_ octets: Octets, at start: Int, pixels: Int?, format: ImageFormat) throws(ImageError) {
        let fields = try Self.fields(octets, start, format)
        guard fields.width > 0, fields.height != 0, fields.height != .min else {
            throw .damaged(format, fault: "its size is \(fields.width) x \(fields.height)")
        }
        isIcon = pixels == nil
        isTopDown = fields.height < 0
        bits = fields.bits
        let height = Int(fields.height.magnitude)
        size = ImageSize(width: Int(fields.width), height: isIcon ? height / 2 : height)
        guard size.height > 0 else { throw .damaged(format, fault: "its height is \(fields.height)") }
        coding = try Self.coding(fields, octets, start, format, isIcon: isIcon)
        // With a header of 40 bytes the masks follow it.
        let masks = fields.length == 40 ? fields.compression == 3 ? 12 : fields.compression == 6 ? 16 : 0 : 0
        let most = bits <= 8 ? 1 << bits : 0
        let width = fields.length == 12 ? 3 : 4
        let count = bits > 8 ? 0 : fields.colors == 0 ? most : min(fields.colors, most)
        palette = (start + fields.length + masks, count, width)
        self.pixels = pixels ?? palette.start + (bits > 8 ? fields.colors : count) * width
    }

    private static func fields(_ octets: Octets, _ start: Int, _ format: ImageFormat) throws(ImageError) -> Fields {
        guard let length = octets.little32(start) else { throw .truncated(format) }
        if length == 12 {
            guard let width = octets.little16(start + 4), let height = octets.little16(start + 6),
                let bits = octets.little16(start + 10)
            else { throw .truncated(format) }
            return Fields(length: 12, width: Int32(width), height: Int32(height), bits: Int(bits))
        }
        guard [40, 52, 56, 64, 108, 124].contains(length) else {
            throw .damaged(format, fault: "its header has an invalid length of \(length) bytes")
        }
        guard let width = octets.little32(start + 4), let height = octets.little32(start + 8),
            let bits = octets.little16(start + 14), let compression = octets.little32(start + 16),
            let colors = octets.little32(start + 32)
        else { throw .truncated(format) }
        return Fields(
            length: Int(length), width: Int32(bitPattern: width), height: Int32(bitPattern: height), bits: Int(bits),
            compression: compression, colors: Int(min(colors, 1 << 16)))
    }

    private static func coding(
        _ fields: Fields, _ octets: Octets, _ start: Int, _ format: ImageFormat, isIcon: Bool
    ) throws(ImageError) -> Coding {
        switch (fields.compression, fields.bits) {
        case (0, 1), (0, 4), (0, 8), (0, 24): return .plain
        case (1, 8) where fields.height > 0 && !isIcon, (2, 4) where fields.height > 0 && !isIcon: return .runs
        case (0, 16):
            return .masks(red: Mask(0x7C00), green: Mask(0x3E0), blue: Mask(0x1F), alpha: nil)
        case (0, 32):
            return .masks(
                red: Mask(0xFF0000), green: Mask(0xFF00), blue: Mask(0xFF), alpha: isIcon ? Mask(0xFF00_0000) : nil)
        case (3, 16), (3, 32), (6, 16), (6, 32):
            // The masks are at the same offset after a short header and within a long one.
            guard let red = octets.little32(start + 40), let green = octets.little32(start + 44),
                let blue = octets.little32(start + 48)
            else { throw .truncated(format) }
            let hasAlpha = fields.length >= 56 && fields.length != 64 || fields.compression == 6
            let alpha = hasAlpha ? octets.little32(start + 52) ?? 0 : 0
            return .masks(red: Mask(red), green: Mask(green), blue: Mask(blue), alpha: Mask(alpha))
        case (4, _), (5, _): throw .unsupported(format, what: "its pixels are stored as JPEG or PNG")
        default:
            throw .damaged(
                format, fault: "compression \(fields.compression) does not allow \(fields.bits) bits a pixel")
        }
    }
}
