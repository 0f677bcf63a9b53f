internal import DunlinTypes

/// Reads the headers of Windows bitmaps and icons.
enum BMPProbe {
    static func header(_ bytes: Bytes) throws(ImageError) -> BMPHeader {
        let octets = Octets(bytes)
        guard let offset = octets.little32(10) else { throw .truncated(.bmp) }
        return try BMPHeader(octets, at: 14, pixels: Int(offset), format: .bmp)
    }

    static func info(_ bytes: Bytes) throws(ImageError) -> ImageInfo {
        info(try header(bytes), .bmp)
    }

    static func info(_ header: BMPHeader, _ format: ImageFormat) -> ImageInfo {
        var info = ImageInfo(format, header.size)
        info.hasAlpha = header.hasAlpha
        info.colorModel = header.bits <= 8 ? .indexed : .rgb
        info.bitsPerComponent = header.bits == 16 ? 5 : 8
        return info
    }
}

/// Reads the directory of an icon or cursor, and selects its picture to decode: the largest, and of several of that
/// size the one with the most colours.
enum ICOProbe {
    private struct Entry {
        let area: Int
        let bits: Int
        let range: Range<Int>
    }

    static func info(_ bytes: Bytes) throws(ImageError) -> ImageInfo {
        let octets = Octets(bytes)
        guard let count = octets.little16(4) else { throw .truncated(.ico) }
        guard count > 0 else { throw .damaged(.ico, fault: "it holds no picture") }
        guard octets.holds(Int(count) * 16, at: 6) else { throw .truncated(.ico) }
        let isIcon = octets[2] == 1
        let entries = (0..<Int(count)).compactMap { entry(octets, 6 + $0 * 16, isIcon: isIcon) }
        guard let best = entries.max(by: { ($0.area, $0.bits) < ($1.area, $1.bits) }) else { throw .truncated(.ico) }
        guard octets.holds(best.range.count, at: best.range.lowerBound) else { throw .truncated(.ico) }
        var info = try info(of: bytes[best.range])
        info.details.range = best.range
        return info
    }

    private static func entry(_ octets: Octets, _ offset: Int, isIcon: Bool) -> Entry? {
        guard let width = octets[offset], let height = octets[offset + 1], let bits = octets.little16(offset + 6),
            let length = octets.little32(offset + 8), let start = octets.little32(offset + 12)
        else { return nil }
        // 256 does not fit, and is written as 0. A cursor has its hot spot where an icon has the number of bits.
        let area = (width == 0 ? 256 : Int(width)) * (height == 0 ? 256 : Int(height))
        return Entry(area: area, bits: isIcon ? Int(bits) : 0, range: Int(start)..<Int(start) + Int(length))
    }

    private static func info(of picture: Bytes) throws(ImageError) -> ImageInfo {
        guard ImageFormat(sniffing: picture) == .png else {
            return BMPProbe.info(try BMPHeader(Octets(picture), at: 0, pixels: nil, format: .ico), .ico)
        }
        let png = try PNGProbe.info(picture)
        var info = ImageInfo(.ico, png.size)
        info.hasAlpha = png.hasAlpha
        info.colorModel = png.colorModel
        info.bitsPerComponent = png.bitsPerComponent
        info.metadataBytes = png.metadataBytes
        info.details.workingBytes = png.details.workingBytes
        return info
    }
}
