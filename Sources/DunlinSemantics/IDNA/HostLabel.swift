/// A mapped label in both forms.
struct HostLabel {
    let scalars: [Unicode.Scalar]
    let ascii: String

    init(_ mapped: [Unicode.Scalar], allowingUnderscores: Bool) throws(IDNAError) {
        let text = String(String.UnicodeScalarView(mapped))
        guard !mapped.isEmpty else { throw IDNAError(problem: .emptyLabel, label: text) }
        // No scalar takes less than a byte, so this also bounds what is encoded and decoded below.
        guard mapped.count <= 63 else { throw IDNAError(problem: .labelTooLong, label: text) }
        if mapped.starts(with: "xn--".unicodeScalars) {
            scalars = try Self.decoded(text, allowingUnderscores: allowingUnderscores)
            ascii = text
        } else {
            scalars = mapped
            ascii = try Self.encoded(text, mapped, allowingUnderscores: allowingUnderscores)
        }
    }

    private static func encoded(
        _ text: String, _ scalars: [Unicode.Scalar], allowingUnderscores: Bool
    ) throws(IDNAError) -> String {
        guard scalars.contains(where: { !$0.isASCII }) else {
            for scalar in scalars where !LabelRules.isAllowed(scalar, allowingUnderscores: allowingUnderscores) {
                throw IDNAError(problem: .disallowed(scalar), label: text)
            }
            return text
        }
        try LabelRules.check(scalars, of: text, allowingUnderscores: allowingUnderscores)
        guard let code = Punycode.encode(scalars), code.utf8.count <= 59 else {
            throw IDNAError(problem: .labelTooLong, label: text)
        }
        return "xn--" + code
    }

    private static func decoded(_ text: String, allowingUnderscores: Bool) throws(IDNAError) -> [Unicode.Scalar] {
        guard let scalars = Punycode.decode(text.utf8.dropFirst(4)), scalars.contains(where: { !$0.isASCII }) else {
            throw IDNAError(problem: .invalidPunycode, label: text)
        }
        try LabelRules.check(scalars, of: text, allowingUnderscores: allowingUnderscores)
        guard Composition.normalized(scalars) == scalars else {
            throw IDNAError(problem: .notNormalized, label: text)
        }
        return scalars
    }
}
