internal import DunlinTypes

/// The position within a chunked body (RFC 9112 §7.1), whose chunks are skipped to find what follows the last.
///
/// It must not know their contents. The position becomes unknown after an invalid chunk, or after more unseen bytes
/// than a chunk has.
struct ChunkPosition: Sendable {
    private enum Part {
        case size(Int, hasDigits: Bool)
        /// In the rest of the size's line.
        case rest(Int)
        case content(left: Int)
        case contentEnd
        case trailers
        case unknown
    }

    private var part = Part.size(0, hasDigits: false)

    var isInTrailers: Bool { if case .trailers = part { true } else { false } }
    var isUnknown: Bool { if case .unknown = part { true } else { false } }

    /// Skips the bytes that belong to chunks. Returns where these end.
    mutating func pass(_ bytes: ArraySlice<UInt8>) -> Int {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch part {
            case .content(let left):
                let count = min(left, bytes.endIndex - index)
                pass(count, of: left)
                index += count
            case .trailers, .unknown: return index
            case .size, .rest, .contentEnd:
                take(bytes[index])
                index += 1
            }
        }
        return index
    }

    /// Skips unseen bytes. A chunk is often written whole, and ends with two bytes.
    mutating func skip(_ count: Int) {
        switch part {
        case .content(let left) where count <= left: pass(count, of: left)
        case .content(let left) where count == left + 2: part = .size(0, hasDigits: false)
        case .content, .size, .rest, .contentEnd, .trailers, .unknown: part = .unknown
        }
    }

    private mutating func pass(_ count: Int, of left: Int) {
        part = count < left ? .content(left: left - count) : .contentEnd
    }

    private mutating func take(_ byte: UInt8) {
        switch (part, byte) {
        case (.size(let size, true), 0x0A), (.rest(let size), 0x0A):
            part = size == 0 ? .trailers : .content(left: size)
        case (.size(let size, true), 0x0D), (.size(let size, true), UInt8(ascii: ";")), (.size(let size, true), 0x20),
            (.size(let size, true), 0x09):
            part = .rest(size)
        case (.size(let size, _), _):
            let (shifted, isTooLong) = size.multipliedReportingOverflow(by: 16)
            guard let digit = Hex.value(byte), !isTooLong else { return part = .unknown }
            part = .size(shifted | Int(digit), hasDigits: true)
        case (.contentEnd, 0x0A): part = .size(0, hasDigits: false)
        case (.rest, _), (.contentEnd, 0x0D): break
        case (.contentEnd, _), (.content, _), (.trailers, _), (.unknown, _): part = .unknown
        }
    }
}
