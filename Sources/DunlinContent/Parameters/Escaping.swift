/// The bytes that percent-encoding keeps; others are written in upper-case hexadecimal.
struct KeptBytes: Sendable {
    /// One bit for each ASCII byte that is kept.
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
    /// The bytes kept in a query's keys and values.
    static let query = KeptBytes(plain + "/?")
    /// The bytes kept in keys for servers that want brackets unescaped.
    static let bracketedKey = KeptBytes(plain + "/?[]")
}

extension [UInt8] {
    mutating func appendEscaped(_ text: String, keeping kept: KeptBytes) {
        reserveRoom(for: text.utf8.count)
        var text = text
        text.withUTF8 { text in
            for byte in text {
                if kept.contains(byte) {
                    append(byte)
                } else {
                    appendTriplet(of: byte)
                }
            }
        }
    }

    /// Grows by doubling. Reserving exactly what is needed would copy everything each time.
    private mutating func reserveRoom(for count: Int) {
        let wanted = self.count + count
        if wanted > capacity { reserveCapacity(Swift.max(wanted, capacity * 2)) }
    }
}

extension String {
    mutating func appendEscaped(_ text: String, keeping kept: KeptBytes) {
        var bytes: [UInt8] = []
        bytes.appendEscaped(text, keeping: kept)
        self += String(decoding: bytes, as: UTF8.self)
    }
}
