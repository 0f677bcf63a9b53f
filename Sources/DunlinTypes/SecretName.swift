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
