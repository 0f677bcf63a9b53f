/// Where a value stands within others, as errors say it: `users[2].name`.
enum JSONPath {
    enum Step {
        case member(String)
        case element(Int)
    }

    private static let longest = 200

    static func text(_ steps: [Step]) -> String {
        var text = ""
        for step in steps {
            switch step {
            case .element(let index): text += "[\(index)]"
            case .member(let name): text += (text.isEmpty ? "" : ".") + VisibleText.of(name, upTo: 100)
            }
            if text.utf8.count > longest { return text + "…" }
        }
        return text
    }

    static func text(_ path: [any CodingKey]) -> String {
        text(path.map(Step.init))
    }

    /// Whether what a name leads to should not be shown. Names in JSON are many more than those of fields, and to show
    /// too little does no harm.
    static func isSecret(_ step: Step) -> Bool {
        switch step {
        case .element: false
        case .member(let name): isSecret(name)
        }
    }

    /// A name that is too long to be judged is taken for that of a secret.
    static func isSecret(_ name: String) -> Bool {
        guard name.utf8.count <= longestJudged else { return true }
        // The same in all ways of writing several words as one.
        let letters = name.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }.map {
            (0x41...0x5A).contains($0) ? $0 | 0x20 : $0
        }
        return words.contains(letters)
            || letters.indices.contains { start in signs.contains { letters[start...].starts(with: $0) } }
    }

    static let longestJudged = 100

    private static let signs: [[UInt8]] =
        HTTP.SecretFields.signs.map { Array($0.utf8) }
        + [
            "passw", "passphrase", "passcode", "pwd", "jwt", "bearer", "private", "cvv", "cvc", "iban", "csrf", "xsrf",
            "pincode", "otp", "mfa", "securitycode", "verificationcode", "recovery", "cardnumber", "mnemonic", "seed",
        ].map { Array($0.utf8) }
    private static let words = Set(["pass", "pin", "tan", "ssn", "code", "pan"].map { Array($0.utf8) })
}

extension JSONPath.Step {
    init(_ key: any CodingKey) {
        if let index = key.intValue, key.stringValue == "Index \(index)" {
            self = .element(index)
        } else {
            self = .member(key.stringValue)
        }
    }
}
