/// Base64 as in RFC 4648 §4, strictly: padded, no stray bits, nothing outside the alphabet.
package enum Base64 {
    package static func encode(_ bytes: borrowing Bytes) -> String {
        let length = (bytes.count + 2) / 3 * 4
        let letters = letters
        return bytes.withUnsafeBytes { bytes in
            String(unsafeUninitializedCapacity: length) { text in
                var index = 0
                var end = 0
                while index < bytes.count {
                    let left = bytes.count - index
                    let group =
                        UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                        | (left > 2 ? UInt32(bytes[index + 2]) : 0)
                    text[end] = letters[Int(group >> 18)]
                    text[end + 1] = letters[Int(group >> 12 & 63)]
                    text[end + 2] = left > 1 ? letters[Int(group >> 6 & 63)] : pad
                    text[end + 3] = left > 2 ? letters[Int(group & 63)] : pad
                    index += 3
                    end += 4
                }
                return end
            }
        }
    }

    /// Decodes Base64; nil for anything that `encode` would not have written.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        if let decoded = text.withContiguousStorageIfAvailable({ decode($0) }) { return decoded }
        return Array(text).withUnsafeBufferPointer { decode($0) }
    }

    package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        if text.isEmpty { return [] }
        let padding = text[text.count - 1] != pad ? 0 : text[text.count - 2] != pad ? 1 : 2
        let count = text.count / 4 * 3 - padding
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            filled = values.withUnsafeBufferPointer { fill(bytes, count, text, padding, $0) } ? count : 0
        }
        return bytes.count == count ? bytes : nil
    }

    /// Returns false for text that is not Base64.
    private static func fill(
        _ bytes: UnsafeMutableBufferPointer<UInt8>, _ count: Int, _ text: UnsafeBufferPointer<UInt8>, _ padding: Int,
        _ values: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        var wrong: UInt8 = 0
        var start = 0
        var filled = 0
        while filled + 3 <= count {
            let (a, b) = (values[Int(text[start])], values[Int(text[start + 1])])
            let (c, d) = (values[Int(text[start + 2])], values[Int(text[start + 3])])
            wrong |= a | b | c | d
            bytes[filled] = a << 2 | b >> 4
            bytes[filled + 1] = b << 4 | c >> 2
            bytes[filled + 2] = c << 6 | d
            start += 4
            filled += 3
        }
        if padding > 0 {
            let (a, b) = (values[Int(text[start])], values[Int(text[start + 1])])
            let c = padding == 1 ? values[Int(text[start + 2])] : 0
            wrong |= a | b | c
            bytes[filled] = a << 2 | b >> 4
            if padding == 1 { bytes[filled + 1] = b << 4 | c >> 2 }
            // The last letter's bits that belong to no byte must be zero.
            if (padding == 1 ? c & 3 : b & 15) != 0 { return false }
        }
        return wrong <= 63
    }

    private static let pad = UInt8(ascii: "=")
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each byte as a letter of the alphabet; 255 for a byte outside it.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()
}
