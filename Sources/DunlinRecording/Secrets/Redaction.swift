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

    /// The text of a body. JSON and forms keep their structure; other text is left out from the first secret name on,
    /// and then it is not whole.
    func body(_ text: String, _ mediaType: String) -> (text: String, isWhole: Bool) {
        body(text, MediaType(mediaType), depth: 0)
    }

    /// The text of a body, or of a part of one; `depth` says in how many others it is.
    private func body(_ text: String, _ type: MediaType?, depth: Int) -> (text: String, isWhole: Bool) {
        let essence = type?.essence ?? ""
        if essence == "application/x-www-form-urlencoded", Self.mayBeForm(text) {
            let pairs = Self.pairs(of: text[...], separator: "&")
            // `name=password&value=…`
            let isNamed = pairs.contains { pair in
                Self.isNaming(Self.innermost(pair.meaning), withValue: true)
                    && secret.hides(PercentEncoding.meaning(ofQueryPart: (pair.value ?? "")[...]))
            }
            let shown = pairs.map { pair in
                guard let value = pair.value else { return masked(pair.name) }
                let isHidden = secret.hides(pair.meaning) || isNamed && Self.isValue(Self.innermost(pair.meaning))
                return "\(pair.name)=\(isHidden ? Self.mark : masked(value))"
            }
            return (shown.joined(separator: "&"), true)
        }
        if depth < Self.deepest, let form = MultipartText(text, type) { return parts(of: form, depth: depth) }
        let first = text.utf8.first { $0 > 0x20 }
        let mayBeJSON = essence.hasSuffix("json") || first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        if mayBeJSON, let value = DynamicValue(json: text), let shown = masked(value).json {
            return (shown == value.json ? text : shown, true)
        }
        let shown = SecretText.beginning(of: text, hiding: secret)
        return (shown, shown == text)
    }

    /// How many forms within each other are looked into.
    private static let deepest = 3

    /// Whether a text has nothing that no form has, since all of it would be encoded.
    private static func mayBeForm(_ text: String) -> Bool {
        !text.utf8.contains { $0 < 0x20 || "\"<>{}".utf8.contains($0) }
    }

    /// A part's name is judged as that of a form's field.
    private func parts(of form: MultipartText, depth: Int) -> (text: String, isWhole: Bool) {
        var isWhole = true
        let isNamed = form.parts.contains { part in
            part.names.contains { Self.isNaming(Self.innermost($0), withValue: true) } && secret.hides(part.content)
        }
        let text = form.text { part in
            if part.names.contains(where: secret.hides) || SecretText.hasName(in: part.head, hiding: secret)
                || isNamed && part.names.contains(where: { Self.isValue(Self.innermost($0)) })
            {
                return (head(part), Self.mark)
            }
            if part.isCoded {
                isWhole = false
                return (head(part), Self.mark)
            }
            // Without a type it is a field of the form.
            if part.type == nil, Self.mayBeForm(part.content) { return (head(part), masked(part.content)) }
            let content = body(part.content, part.type, depth: depth + 1)
            isWhole = isWhole && content.isWhole
            return (head(part), content.text)
        }
        return (text, isWhole)
    }

    private func head(_ part: MultipartText.Part) -> String {
        part.lines.map { line in
            let name = line.prefix { $0 != ":" }
            if secret.hidesField(String(name)) { return "\(name): \(Self.mark)" }
            // What it names was judged, and shows nothing of the content.
            let isDisposition = name.lowercased() == "content-disposition"
            return isDisposition ? SecretText.withoutInner(line, hiding: secret) : masked(line)
        }.joined(separator: "\r\n")
    }

    private func masked(_ text: String) -> String { SecretText.masked(text, as: .link, hiding: secret) }

    private func masked(_ value: DynamicValue) -> DynamicValue {
        switch value {
        case .string(let text): return .string(SecretText.masked(text, as: .form, hiding: secret))
        case .array(let elements):
            // `[["Accept", "…"], ["Authorization", "…"]]`
            let pairs = elements.compactMap(Self.pair)
            guard pairs.count == elements.count else { return .array(elements.map(masked)) }
            return .array(
                pairs.map { name, value in
                    .array([masked(.string(name)), secret.hides(name) ? hidden(value) : masked(value)])
                })
        case .object(let members):
            // `{"name": "password", "value": "…"}`
            let hasValue = members.contains { Self.isValue($0.key) }
            let isNamed = members.contains { member in
                if case .string(let text) = member.value, Self.isNaming(member.key, withValue: hasValue) {
                    secret.hides(text)
                } else {
                    false
                }
            }
            var shown = DynamicValue.Members([])
            for member in members {
                let isHidden =
                    secret.hides(member.key) || isNamed && !Self.isNaming(member.key, withValue: hasValue)
                shown.append(key(member.key), isHidden ? hidden(member.value) : masked(member.value))
            }
            return .object(shown)
        case .null, .bool, .number, .data, .date, .set: return value
        }
    }

    /// The name and the value of a list of two.
    private static func pair(_ value: DynamicValue) -> (name: String, value: DynamicValue)? {
        guard case .array(let elements) = value, elements.count == 2, case .string(let name) = elements[0] else {
            return nil
        }
        return (name, elements[1])
    }

    /// A key, which may be a URL.
    private func key(_ key: String) -> String { SecretText.masked(key, as: .form, hiding: secret) }

    /// A value of the same form that says nothing, so that it is read as the same type.
    private func hidden(_ value: DynamicValue) -> DynamicValue {
        switch value {
        case .string: .string(Self.mark)
        case .number: 0
        case .array(let elements): .array(elements.map(hidden))
        case .object(let members):
            .object(DynamicValue.Members(members.map { .init(key: key($0.key), value: hidden($0.value)) }))
        case .null, .bool, .data, .date, .set: value
        }
    }

    private static let naming: Set<String> = ["name", "key", "property"]
    /// These name something only beside a value: a `type` is mostly another thing.
    private static let namingValues: Set<String> = ["id", "type", "field", "label"]

    private static func isNaming(_ name: String, withValue: Bool) -> Bool {
        let name = name.lowercased()
        return naming.contains(name) || withValue && namingValues.contains(name)
    }

    private static func isValue(_ name: String) -> Bool { name.lowercased() == "value" }

    /// `name` of `fields[0][name]` and of `fields.0.name`.
    private static func innermost(_ name: String) -> String {
        name.split { "[].".contains($0) }.last.map(String.init) ?? ""
    }

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
