internal import DunlinTypes

/// Reads the orientation in a block of EXIF, which is a small TIFF file (EXIF 2.32 §4.6).
enum EXIF {
    private static let orientationTag: UInt16 = 0x0112

    /// Returns the orientation; nil if there is no valid one.
    static func orientation(of block: Bytes) -> ImageOrientation? {
        guard let reader = TIFFReader(block) else { return nil }
        for entry in reader.entries() where entry.tag == orientationTag {
            return UInt8(exactly: entry.value).flatMap(ImageOrientation.init(rawValue:))
        }
        return nil
    }
}

/// The first directory of a TIFF file, in either byte order.
struct TIFFReader {
    struct Entry {
        let tag: UInt16
        let value: UInt32
        let count: UInt32
    }

    private let octets: Octets
    private let isLittle: Bool
    private let directory: Int

    init?(_ bytes: Bytes) {
        octets = Octets(bytes)
        guard octets.has("II*\0", at: 0) || octets.has("MM\0*", at: 0) else { return nil }
        isLittle = octets.has("II", at: 0)
        guard let offset = isLittle ? octets.little32(4) : octets.big32(4) else { return nil }
        directory = Int(offset)
    }

    /// Returns the entries with one short or long number; those beyond the end are left out.
    func entries() -> [Entry] {
        guard let count = short(directory) else { return [] }
        let room = (octets.count - directory - 2) / 12
        return (0..<min(Int(count), max(room, 0))).compactMap { index in entry(directory + 2 + index * 12) }
    }

    private func entry(_ offset: Int) -> Entry? {
        guard let tag = short(offset), let type = short(offset + 2), let count = long(offset + 4) else { return nil }
        // Of several values, the first one in the entry itself is enough.
        switch type {
        case 3: return short(offset + 8).map { Entry(tag: tag, value: UInt32($0), count: count) }
        case 4: return long(offset + 8).map { Entry(tag: tag, value: $0, count: count) }
        default: return nil
        }
    }

    private func short(_ offset: Int) -> UInt16? { isLittle ? octets.little16(offset) : octets.big16(offset) }
    private func long(_ offset: Int) -> UInt32? { isLittle ? octets.little32(offset) : octets.big32(offset) }
}
