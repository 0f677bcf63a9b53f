/// Percent-encoding over UTF-8 bytes, upper-case hex.
struct KeptBytes: Sendable {
    /// One bit for each ASCII byte that stays as it is.
    private let low: UInt64
    private let high: UInt64

    init(_ kept: String) {
        var low: UInt64 = 0
        var high: UInt64 = 0
        for byte in kept.utf8 where byte < 128 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
        self.low = low
        self.high = high
    }

    func contains(_ byte: UInt8) -> Bool {
        if byte >= 128 { return false }
        return (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte - 64)) & 1 == 1
    }

    private static let plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    static let unreserved = KeptBytes(plain)
    /// What may stand in a query's keys and values.
    static let query = KeptBytes(plain + "/?")
}

extension String {
    mutating func appendEscaped(_ text: String, keeping kept: KeptBytes) {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if kept.contains(byte) {
                bytes.append(byte)
            } else {
                bytes.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
            }
        }
        self += String(decoding: bytes, as: UTF8.self)
    }
}
