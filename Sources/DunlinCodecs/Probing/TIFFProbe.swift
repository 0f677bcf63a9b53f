internal import DunlinTypes

/// Reads the size of the first picture of a TIFF file.
enum TIFFProbe {
    static func info(_ bytes: Bytes) throws(ImageError) -> ImageInfo {
        guard let reader = TIFFReader(bytes) else { throw .truncated(.tiff) }
        var values: [UInt16: UInt32] = [:]
        for entry in reader.entries() { values[entry.tag] = entry.value }
        guard let width = values[256], let height = values[257], width > 0, height > 0 else {
            throw .damaged(.tiff, fault: "its first directory gives no size")
        }
        var info = ImageInfo(.tiff, ImageSize(width: Int(width), height: Int(height)))
        info.frameCount = nil
        info.bitsPerComponent = nil
        info.orientation =
            values[274].flatMap { UInt8(exactly: $0) }.flatMap(ImageOrientation.init(rawValue:)) ?? .upright
        info.colorModel =
            switch values[262] {
            case 0, 1: .gray
            case 2, 6: .rgb
            case 3: .indexed
            case 5: .cmyk
            default: .unknown
            }
        return info
    }
}
