package import DunlinTypes

/// Reads little-endian numbers, and runs of bytes preceded by their length. Memory is reserved only for bytes that are
/// known to be there.
package struct RecordReader {
    private let bytes: Bytes
    private var position = 0

    package init(_ bytes: Bytes) {
        self.bytes = bytes
    }

    package var remaining: Int { bytes.count - position }

    mutating func take(_ count: Int) throws(CacheRefusal) -> Bytes {
        guard count <= remaining else { throw .truncated }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(CacheRefusal) -> Number {
        let taken = try take(MemoryLayout<Number>.size)
        return Number(littleEndian: taken.withUnsafeBytes { $0.loadUnaligned(as: Number.self) })
    }

    /// Reads a number of things, at most `limit`.
    mutating func count<Number: FixedWidthInteger>(_: Number.Type, limit: Int) throws(CacheRefusal) -> Int {
        guard let count = Int(exactly: try number(Number.self)), count <= limit else { throw .limit }
        return count
    }

    mutating func flag() throws(CacheRefusal) -> Bool {
        switch try number(UInt8.self) {
        case 0: false
        case 1: true
        default: throw .value
        }
    }

    mutating func text(_ count: Int) throws(CacheRefusal) -> String {
        if count == 0 { return "" }
        guard let text = String(validating: try take(count), as: UTF8.self) else { throw .value }
        return text
    }

    func end() throws(CacheRefusal) {
        guard remaining == 0 else { throw .surplus }
    }
}

extension [UInt8] {
    mutating func append<Number: FixedWidthInteger>(number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    mutating func append(flag: Bool) { append(flag ? 1 : 0) }
}
