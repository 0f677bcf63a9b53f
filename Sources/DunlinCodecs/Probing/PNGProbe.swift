internal import DunlinTypes

/// Reads the header of a PNG, and the chunks before its pixels (PNG, third edition, §5 and §11).
enum PNGProbe {
    private static let signatureLength = 8

    static func info(_ bytes: Bytes) throws(ImageError) -> ImageInfo {
        let octets = Octets(bytes)
        var info = try header(octets)
        var offset = signatureLength + 25
        while let length = octets.big32(offset), octets.holds(4, at: offset + 4), !octets.has("IDAT", at: offset + 4) {
            if octets.has("tRNS", at: offset + 4) { info.hasAlpha = true }
            if octets.has("iCCP", at: offset + 4) || octets.has("eXIf", at: offset + 4) {
                info.metadataBytes += Int(length)
            }
            if octets.has("eXIf", at: offset + 4), let block = octets.slice(offset + 8, Int(length)) {
                info.orientation = EXIF.orientation(of: block) ?? .upright
            }
            offset += 12 + Int(length)
        }
        return info
    }

    private static func header(_ octets: Octets) throws(ImageError) -> ImageInfo {
        guard let length = octets.big32(8), let width = octets.big32(16), let height = octets.big32(20),
            let depth = octets[24], let color = octets[25], let interlacing = octets[28]
        else { throw .truncated(.png) }
        guard length == 13, octets.has("IHDR", at: 12) else { throw .damaged(.png, fault: "it has no header") }
        guard width > 0, height > 0, width <= Int32.max, height <= Int32.max else {
            throw .damaged(.png, fault: "its size is \(width) x \(height)")
        }
        let depths: [UInt8: [UInt8]] = [
            0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
        ]
        guard depths[color]?.contains(depth) == true, interlacing <= 1 else {
            throw .damaged(.png, fault: "colour type \(color) does not allow \(depth) bits")
        }
        var info = ImageInfo(.png, ImageSize(width: Int(width), height: Int(height)))
        info.bitsPerComponent = color == 3 ? 8 : Int(depth)
        info.hasAlpha = color >= 4
        info.colorModel = color == 3 ? .indexed : color & 2 == 0 ? .gray : .rgb
        // Two stored rows, of at most eight bytes a pixel.
        info.details.workingBytes = Int(width) * 16
        return info
    }
}
