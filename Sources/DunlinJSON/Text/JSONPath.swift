/// The path of a value as errors show it: `users[2].name`.
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

    /// Whether the value that a step leads to should be hidden.
    static func isSecret(_ step: Step, _ secret: HTTP.SecretFields) -> Bool {
        switch step {
        case .element: false
        case .member(let name): secret.hides(name)
        }
    }
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
