internal import DunlinTypes

/// Bytes by their offset; nil beyond the end.
struct Octets {
    let bytes: Bytes

    init(_ bytes: Bytes) {
        self.bytes = bytes
    }

    var count: Int { bytes.count }

    subscript(offset: Int) -> UInt8? {
        offset >= 0 && offset < bytes.count ? bytes[offset] : nil
    }

    /// Whether there are `count` bytes from an offset on.
    func holds(_ count: Int, at offset: Int) -> Bool {
        offset >= 0 && count >= 0 && offset <= bytes.count && count <= bytes.count - offset
    }

    func slice(_ offset: Int, _ count: Int) -> Bytes? {
        holds(count, at: offset) ? bytes[offset..<offset + count] : nil
    }

    func big16(_ offset: Int) -> UInt16? {
        guard holds(2, at: offset) else { return nil }
        return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
    }

    func big32(_ offset: Int) -> UInt32? {
        guard let high = big16(offset), let low = big16(offset + 2) else { return nil }
        return UInt32(high) << 16 | UInt32(low)
    }

    func little16(_ offset: Int) -> UInt16? { big16(offset)?.byteSwapped }
    func little32(_ offset: Int) -> UInt32? { big32(offset)?.byteSwapped }

    func little24(_ offset: Int) -> Int? {
        guard let low = little16(offset), let high = self[offset + 2] else { return nil }
        return Int(high) << 16 | Int(low)
    }

    func has(_ text: String, at offset: Int) -> Bool {
        holds(text.utf8.count, at: offset) && zip(text.utf8, bytes[offset..<bytes.count]).allSatisfy { $0 == $1 }
    }

    func begins(_ start: [UInt8]) -> Bool {
        bytes.count >= start.count && zip(start, bytes).allSatisfy { $0 == $1 }
    }
}
