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

    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return HTTP.SecretFields.usual.mayContain(name) || words.contains(name) || signs.contains { name.contains($0) }
    }

    private static let signs = ["passw", "passphrase", "pwd", "jwt", "bearer", "private", "cvv", "cvc", "iban"]
    private static let words: Set<String> = ["pass", "pin", "otp", "tan", "ssn", "code"]
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
