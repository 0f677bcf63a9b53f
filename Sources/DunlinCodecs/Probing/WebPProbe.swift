internal import DunlinTypes

/// Reads the chunks of a WebP file (RFC 9649 §2).
struct WebPProbe {
    private let octets: Octets
    private var info: ImageInfo?
    private var frames = 0
    /// What the header of an extended file announces.
    private var isAnimation = false

    static func info(_ bytes: Bytes) throws(ImageError) -> ImageInfo {
        var probe = WebPProbe(octets: Octets(bytes))
        return try probe.read()
    }

    private init(octets: Octets) {
        self.octets = octets
    }

    private mutating func read() throws(ImageError) -> ImageInfo {
        guard let size = octets.little32(4) else { throw .truncated(.webp) }
        let end = min(octets.count, Int(size) + 8)
        var offset = 12
        // Decoders take other beginnings for a picture without a container.
        let starts = ["VP8 ", "VP8L", "VP8X"]
        if octets.holds(4, at: offset), !starts.contains(where: { octets.has($0, at: offset) }) {
            throw .damaged(.webp, fault: "it does not begin with a picture")
        }
        while offset + 8 <= end, let length = octets.little32(offset + 4) {
            try take(offset, Int(length))
            offset += 8 + Int(length) + Int(length & 1)
        }
        guard var info else { throw .truncated(.webp) }
        if isAnimation {
            guard frames > 0 else { throw .truncated(.webp) }
            info.frameCount = frames
            info.details.isAnimation = true
            // The decoder's two canvases, and the frame being decoded.
            info.details.workingBytes = info.size.pixels.multipliedReportingOverflow(by: 12).partialValue
        }
        return info
    }

    private mutating func take(_ offset: Int, _ length: Int) throws(ImageError) {
        let body = offset + 8
        if octets.has("VP8X", at: offset) {
            try takeExtended(body)
        } else if octets.has("VP8 ", at: offset) {
            try takeLossy(body)
        } else if octets.has("VP8L", at: offset) {
            try takeLossless(body)
        } else if octets.has("ANMF", at: offset) {
            frames += 1
        } else if octets.has("ANIM", at: offset), let loops = octets.little16(body + 4) {
            info?.loopCount = Int(loops)
        } else if octets.has("ALPH", at: offset) {
            info?.hasAlpha = true
        } else if octets.has("ICCP", at: offset) {
            info?.metadataBytes += length
            info?.details.profile = octets.slice(body, length)
        } else if octets.has("EXIF", at: offset) {
            takeEXIF(body, length)
        }
    }

    private mutating func takeEXIF(_ body: Int, _ length: Int) {
        info?.metadataBytes += length
        guard let block = octets.slice(body, length) else { return }
        // Some programs put JPEG's mark in front of it.
        let start = Octets(block).has("Exif\0\0", at: 0) ? 6 : 0
        info?.orientation = EXIF.orientation(of: block[start..<block.count]) ?? .upright
    }

    private mutating func takeExtended(_ body: Int) throws(ImageError) {
        guard info == nil else { return }
        guard let flags = octets[body], let width = octets.little24(body + 4), let height = octets.little24(body + 7)
        else { throw .truncated(.webp) }
        var info = ImageInfo(.webp, ImageSize(width: width + 1, height: height + 1))
        info.hasAlpha = flags & 0x10 != 0
        isAnimation = flags & 0x02 != 0
        info.loopCount = nil
        self.info = info
    }

    private mutating func takeLossy(_ body: Int) throws(ImageError) {
        guard octets.holds(10, at: body) else { throw .truncated(.webp) }
        guard octets.slice(body + 3, 3) == [0x9D, 0x01, 0x2A], let width = octets.little16(body + 6),
            let height = octets.little16(body + 8)
        else { throw .damaged(.webp, fault: "it has no picture header") }
        try take(ImageSize(width: Int(width & 0x3FFF), height: Int(height & 0x3FFF)), hasAlpha: false)
        // A plane of alpha, and some rows.
        if let info { self.info?.details.workingBytes = info.size.pixels + info.size.width * 128 }
    }

    private mutating func takeLossless(_ body: Int) throws(ImageError) {
        guard let bits = octets.little32(body + 1) else { throw .truncated(.webp) }
        guard octets[body] == 0x2F else { throw .damaged(.webp, fault: "it has no picture header") }
        let size = ImageSize(width: Int(bits & 0x3FFF) + 1, height: Int(bits >> 14 & 0x3FFF) + 1)
        try take(size, hasAlpha: bits >> 28 & 1 == 1)
        info?.details.isLossless = true
        info?.details.workingBytes = size.pixels * 5
    }

    /// Notes the only picture of a file; an extended file has announced its size.
    private mutating func take(_ size: ImageSize, hasAlpha: Bool) throws(ImageError) {
        guard size.pixels > 0 else { throw .damaged(.webp, fault: "its size is \(size)") }
        if isAnimation { return }
        if let info, info.size != size {
            throw .damaged(.webp, fault: "its picture of \(size) does not fit its canvas of \(info.size)")
        }
        info = info ?? ImageInfo(.webp, size)
        if hasAlpha { info?.hasAlpha = true }
    }
}
