/// Entries as Dunlin 0.1.0 saved them.
extension JournalEntry {
    /// The content of an entry of version 2 in the form of today's: options that are saved together now stood beside
    /// the request's method and URL, some of them in other forms.
    static func renewed(_ content: Bytes) throws -> Bytes {
        typealias Member = DynamicValue.Members.Member
        let entry = try HTTP.JSON.strict.decode(DynamicValue.self, from: content)
        let old = entry["request"] ?? .null
        func kept(_ names: String...) -> [Member] {
            names.compactMap { name in old[name].map { Member(key: name, value: $0) } }
        }
        var saved = kept("timeouts", "label", "guard", "redirects", "cacheMode", "handlesCookies")
        let flags: [(name: String, option: String, value: DynamicValue)] = [
            ("hasNoGuard", "guard", .null), ("acceptsAnyStatus", "validatesResponse", false),
            ("keepsCoding", "decodesContent", false), ("hasNoCredentials", "credentials", true),
        ]
        for flag in flags where old[flag.name]?.bool == true {
            saved.append(Member(key: flag.option, value: flag.value))
        }
        let (texts, sensitive) = (old["fields"]?.array ?? [], old["sensitiveFields"]?.array ?? [])
        // A field without a value is refused with the entry.
        let fields = stride(from: 0, to: texts.count, by: 2).map { index -> DynamicValue in
            let isSensitive = sensitive.contains { $0.string == texts[index].string?.lowercased() }
            return [
                "name": texts[index], "value": index + 1 < texts.count ? texts[index + 1] : .null,
                "isSensitive": .bool(isSensitive),
            ]
        }
        if !fields.isEmpty { saved.append(Member(key: "fields", value: .array(fields))) }
        let request =
            kept("method", "url", "formerURLs", "sessionGuard") + [
                Member(key: "hidesSecrets", value: old["hidesSecrets"] ?? false),
                Member(key: "unsaved", value: old["unsaved"] ?? []),
                Member(key: "saved", value: .object(.init(saved))),
            ]
        let others = (entry.members ?? [:]).filter { $0.key != "request" }
        return try DynamicValue.object(.init(others + [Member(key: "request", value: .object(.init(request)))])).json()
    }
}
