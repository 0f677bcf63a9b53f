internal import Dunlin
internal import DunlinSemantics
internal import DunlinTypes

/// Leaves secrets out of what is written, and of live requests before they are compared with it. One value for both, so
/// that equal requests stay equal.
struct Redaction: Sendable {
    static let mark = "***"

    let secret: HTTP.SecretFields

    func url(_ text: String) -> String { WebAddress.named(text, hiding: secret) }

    func fields(_ fields: Fields) -> [HAR.NameValue] {
        fields.shown(hiding: secret).map { HAR.NameValue($0.name, $0.value) }
    }

    /// The value of a cookie, parameter or member by this name.
    func value(_ value: String, of name: String) -> String {
        secret.hides(name) ? Self.mark : SecretText.masked(value, as: .link, hiding: secret)
    }

    /// The text of a body. JSON and forms keep their structure; of other text, all that may belong to a secret is left
    /// out, and then it is not whole.
    func body(_ text: String, _ mediaType: String) -> (text: String, isWhole: Bool) {
        let type = Self.name(of: mediaType)
        if type == "application/x-www-form-urlencoded" {
            let pairs = Self.pairs(of: text[...], separator: "&").map { pair in
                pair.value.map { "\(pair.name)=\(secret.hides(pair.meaning) ? Self.mark : masked($0))" } ?? pair.name
            }
            return (pairs.joined(separator: "&"), true)
        }
        if type.hasSuffix("json"), let value = DynamicValue(json: text), let shown = masked(value).json {
            return (shown == value.json ? text : shown, true)
        }
        let shown = SecretText.masked(text, as: .form, hiding: secret)
        return (shown, shown == text)
    }

    private func masked(_ text: String) -> String { SecretText.masked(text, as: .link, hiding: secret) }

    private func masked(_ value: DynamicValue) -> DynamicValue {
        switch value {
        case .string(let text): return .string(SecretText.masked(text, as: .form, hiding: secret))
        case .array(let elements): return .array(elements.map(masked))
        case .object(let members):
            // `{"name": "password", "value": "…"}`
            let isNamed = members.contains { member in
                if case .string(let text) = member.value, Self.naming.contains(member.key.lowercased()) {
                    secret.hides(text)
                } else {
                    false
                }
            }
            var shown = DynamicValue.Members([])
            for member in members {
                let isHidden =
                    secret.hides(member.key) || isNamed && !Self.naming.contains(member.key.lowercased())
                shown.append(member.key, isHidden ? Self.hidden(member.value) : masked(member.value))
            }
            return .object(shown)
        case .null, .bool, .number, .data, .date, .set: return value
        }
    }

    /// A value of the same form that says nothing, so that it is read as the same type.
    private static func hidden(_ value: DynamicValue) -> DynamicValue {
        switch value {
        case .string: .string(mark)
        case .number: 0
        case .array(let elements): .array(elements.map(hidden))
        case .object(let members):
            .object(DynamicValue.Members(members.map { .init(key: $0.key, value: hidden($0.value)) }))
        case .null, .bool, .data, .date, .set: value
        }
    }

    private static func name(of mediaType: String) -> String {
        String(Substring(mediaType.utf8.prefix { $0 != UInt8(ascii: ";") })).lowercased()
    }

    /// Whether a body of this type is text, or has parts that are.
    static func isText(_ mediaType: String) -> Bool {
        let type = name(of: mediaType)
        return type.hasSuffix("json") || type.hasSuffix("urlencoded") || type.hasPrefix("text/")
            || type.hasPrefix("multipart/")
            || type.hasSuffix("xml") || type.hasSuffix("javascript") || type.hasSuffix("graphql")
    }

    private static let naming: Set<String> = ["name", "key", "property"]

    struct Pair {
        let name: String
        let value: String?
        /// The name with its percent signs decoded.
        var meaning: String { PercentEncoding.meaning(ofQueryPart: name[...]) }
    }

    /// The pairs of a query or form, as they are written.
    static func pairs(of text: Substring, separator: Character) -> [Pair] {
        text.split(separator: separator).map { part in
            let sign = part.utf8.firstIndex(of: UInt8(ascii: "="))
            return Pair(
                name: String(part[..<(sign ?? part.endIndex)]),
                value: sign.map { String(part[part.utf8.index(after: $0)...]) })
        }
    }
}
