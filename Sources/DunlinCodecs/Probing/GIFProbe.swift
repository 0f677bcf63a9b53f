internal import DunlinTypes

/// Reads the blocks of a GIF without decoding (GIF89a §15 and later).
struct GIFProbe {
    private let octets: Octets
    private var info: ImageInfo
    private var frames = 0
    private var isTransparent = false
    private var coversCanvas = false

    static func info(_ bytes: Bytes) throws(ImageError) -> ImageInfo {
        let octets = Octets(bytes)
        guard octets.holds(13, at: 0), let width = octets.little16(6), let height = octets.little16(8) else {
            throw .truncated(.gif)
        }
        var probe = GIFProbe(octets: octets, ImageSize(width: Int(width), height: Int(height)))
        return try probe.read()
    }

    private init(octets: Octets, _ size: ImageSize) {
        self.octets = octets
        info = ImageInfo(.gif, size)
        info.colorModel = .indexed
    }

    private mutating func read() throws(ImageError) -> ImageInfo {
        var offset = 13 + palette(octets[10])
        while let mark = octets[offset], mark != 0x3B {
            switch mark {
            case 0x21: offset = skip(takeExtension(offset + 1))
            case 0x2C:
                guard octets.holds(10, at: offset) else { throw .truncated(.gif) }
                takeFrame(offset + 1)
                offset = skip(offset + 11 + palette(octets[offset + 9]))
            default: throw .damaged(.gif, fault: "it has a block of unknown type")
            }
        }
        guard frames > 0 else { throw .truncated(.gif) }
        guard info.size.pixels > 0 else { throw .damaged(.gif, fault: "its size is \(info.size)") }
        info.frameCount = frames
        info.hasAlpha = isTransparent || !coversCanvas
        info.details.isAnimation = true
        // The canvas, the one that a frame may restore, and giflib's tables.
        info.details.workingBytes = info.size.pixels * 8 + 100_000
        return info
    }

    /// Returns the bytes of the palette that the flags announce.
    private func palette(_ flags: UInt8?) -> Int {
        guard let flags, flags & 0x80 != 0 else { return 0 }
        return 3 << (Int(flags & 7) + 1)
    }

    /// Returns the end of the data blocks that begin at an offset.
    private func skip(_ start: Int) -> Int {
        var offset = start
        while let length = octets[offset] {
            offset += 1 + Int(length)
            if length == 0 { break }
        }
        return offset
    }

    /// Reads what is of interest in an extension, and returns the start of its blocks.
    private mutating func takeExtension(_ offset: Int) -> Int {
        let blocks = offset + 1
        if octets[offset] == 0xF9, octets[blocks] == 4, let flags = octets[blocks + 1] {
            if flags & 1 == 1 || [2, 3].contains(flags >> 2 & 7) { isTransparent = true }
        }
        if octets[offset] == 0xFF, octets.has("NETSCAPE2.0", at: blocks + 1), octets[blocks + 12] == 3,
            octets[blocks + 13] == 1, let repeats = octets.little16(blocks + 14)
        {
            // The stored number counts repetitions.
            info.loopCount = repeats == 0 ? 0 : Int(repeats) + 1
        }
        return blocks
    }

    private mutating func takeFrame(_ offset: Int) {
        frames += 1
        guard let left = octets.little16(offset), let top = octets.little16(offset + 2),
            let width = octets.little16(offset + 4), let height = octets.little16(offset + 6)
        else { return }
        let (right, bottom) = (Int(left) + Int(width), Int(top) + Int(height))
        // Without a screen size, the first picture's counts.
        if frames == 1, info.size.pixels == 0 { info.size = ImageSize(width: right, height: bottom) }
        let unseen = max(0, Int(width) * Int(height) - info.size.pixels)
        // Frames of 65,535 by 65,535 pixels add up to more than a file has bytes for.
        info.details.unseenPixels = min(info.details.unseenPixels + unseen, .max / 2)
        guard frames == 1 else { return }
        info.details.unseenInFirst = unseen
        coversCanvas = left == 0 && top == 0 && right >= info.size.width && bottom >= info.size.height
    }
}
