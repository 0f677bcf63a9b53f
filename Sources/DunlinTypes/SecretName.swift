/// Tells the names whose values are most likely secrets, wherever they stand: in JSON, in a query, in a form. Such
/// values are not shown; to show too little does no harm.
package enum SecretName {
    /// A name that is longer is not judged, and taken for that of a secret.
    package static let longest = 100

    package static func isLikely(_ name: some StringProtocol) -> Bool {
        guard name.utf8.count <= longest else { return true }
        // The same in all ways of writing several words as one.
        let letters = name.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }.map {
            (0x41...0x5A).contains($0) ? $0 | 0x20 : $0
        }
        return words.contains(letters)
            || letters.indices.contains { start in signs.contains { letters[start...].starts(with: $0) } }
    }

    private static let signs: [[UInt8]] =
        HTTP.SecretFields.signs.map { Array($0.utf8) }
        + [
            "passw", "passphrase", "passcode", "pwd", "jwt", "bearer", "private", "cvv", "cvc", "iban", "csrf", "xsrf",
            "pincode", "otp", "mfa", "securitycode", "verificationcode", "recovery", "cardnumber", "mnemonic", "seed",
        ].map { Array($0.utf8) }
    private static let words = Set(["pass", "pin", "tan", "ssn", "code", "pan", "sig"].map { Array($0.utf8) })
}

/// Text of a server that is shown to a person.
package enum SecretText {
    /// Without the values whose names look like secrets: after `name=` or `"name":`, in whatever format the text is. An
    /// array or object of that name ends what is shown, for where it ends nobody knows.
    package static func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            guard isNameByte(bytes[position]) else {
                shown.append(bytes[position])
                position += 1
                continue
            }
            let start = position
            while position < bytes.count, isNameByte(bytes[position]) { position += 1 }
            shown.append(contentsOf: bytes[start..<position])
            guard let value = value(in: bytes, after: position),
                SecretName.isLikely(String(decoding: bytes[start..<position], as: UTF8.self))
            else { continue }
            shown.append(contentsOf: bytes[position..<value.lowerBound])
            shown.append(contentsOf: "***".utf8)
            position = value.upperBound
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// The value after a name and its sign; nil if there is no sign.
    private static func value(in bytes: [UInt8], after name: Int) -> Range<Int>? {
        var start = name
        func skip(_ isSkipped: (UInt8) -> Bool) {
            while start < bytes.count, isSkipped(bytes[start]) { start += 1 }
        }
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        skip { isQuote($0) || isBlank($0) }
        guard start < bytes.count, bytes[start] == UInt8(ascii: ":") || bytes[start] == UInt8(ascii: "=") else {
            return nil
        }
        start += 1
        skip(isBlank)
        guard start < bytes.count else { return start..<start }
        if bytes[start] == UInt8(ascii: "{") || bytes[start] == UInt8(ascii: "[") { return start..<bytes.count }
        if isQuote(bytes[start]) {
            let quote = bytes[start]
            var end = start + 1
            while end < bytes.count, bytes[end] != quote { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
            return start + 1..<max(start + 1, min(end, bytes.count))
        }
        // `Bearer token` is two words.
        let end = bytes[start...].firstIndex { byte in
            [UInt8(ascii: "&"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "}"), UInt8(ascii: "]")]
                .contains(byte) || byte == UInt8(ascii: "<") || byte == 0x0A || byte == 0x0D
        }
        return start..<(end ?? bytes.count)
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), 0x80...: true
        default: false
        }
    }
}
