internal import DunlinTypes

/// Reads the size of the main picture of an AVIF or HEIF file: `ispe` in `meta`/`iprp`/`ipco` (ISO 23008-12 §6.5.3).
///
/// The largest `ispe` is taken, as thumbnails and tiles have one too, and which one is the main picture's is written
/// elsewhere. A picture made of tiles has the largest.
enum BoxProbe {
    private typealias Box = (type: Int, body: Range<Int>)

    /// The number of boxes that are read: such a file has a handful, and about ten properties for each picture.
    private static let mostBoxes = 1000

    static func info(_ format: ImageFormat, _ bytes: Bytes) throws(ImageError) -> ImageInfo {
        let octets = Octets(bytes)
        guard let meta = try find("meta", in: 0..<octets.count, octets, format) else { throw .truncated(format) }
        let inside = min(meta.lowerBound + 4, meta.upperBound)..<meta.upperBound
        guard let properties = try find("iprp", in: inside, octets, format),
            let container = try find("ipco", in: properties, octets, format)
        else { throw .damaged(format, fault: "it has no image properties") }
        var best = ImageSize(width: 0, height: 0)
        try walk(container, octets, format) { box in
            guard octets.has("ispe", at: box.type), let width = octets.big32(box.body.lowerBound + 4),
                let height = octets.big32(box.body.lowerBound + 8), box.body.count >= 12
            else { return true }
            let size = ImageSize(width: Int(width), height: Int(height))
            if size.pixels > best.pixels { best = size }
            return true
        }
        guard best.pixels > 0 else { throw .damaged(format, fault: "it gives no size") }
        var info = ImageInfo(format, best)
        info.frameCount = nil
        info.bitsPerComponent = nil
        info.colorModel = .unknown
        return info
    }

    private static func find(
        _ type: String, in range: Range<Int>, _ octets: Octets, _ format: ImageFormat
    ) throws(ImageError) -> Range<Int>? {
        var found: Range<Int>?
        try walk(range, octets, format) { box in
            if octets.has(type, at: box.type) { found = box.body }
            return found == nil
        }
        return found
    }

    /// Visits the boxes until `visit` returns false, or there are no more.
    private static func walk(
        _ range: Range<Int>, _ octets: Octets, _ format: ImageFormat, _ visit: (Box) -> Bool
    ) throws(ImageError) {
        var offset = range.lowerBound
        var boxes = 0
        while range.upperBound - offset >= 8, let short = octets.big32(offset) {
            boxes += 1
            if boxes > mostBoxes { throw .damaged(format, fault: "it has more than \(mostBoxes) boxes") }
            var (length, header) = (Int(short), 8)
            if short == 1 {
                guard let high = octets.big32(offset + 8), let low = octets.big32(offset + 12) else { return }
                guard high == 0 else { throw .damaged(format, fault: "it has a box of more than 4 GiB") }
                (length, header) = (Int(low), 16)
            }
            if short == 0 { length = range.upperBound - offset }
            guard length >= header else {
                throw .damaged(format, fault: "it has a box that is shorter than the box's header")
            }
            let end = min(offset + length, range.upperBound)
            // The end of the outer box may cut a header of 16 bytes.
            if !visit((offset + 4, min(offset + header, end)..<end)) { return }
            offset += length
        }
    }
}
