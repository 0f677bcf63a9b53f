internal import DunlinSemantics
internal import DunlinTransport

extension ResumeData {
    /// Whether a request with these fields is for the same form of the file, such as its language or type, by an answer
    /// that says what its form depends on. A server may give all forms one entity tag.
    ///
    /// Secret fields say who asks, which is compared as such. `Accept` counts though a server does not name it; a
    /// language does not, since that is often the system's.
    func isSelected(by fields: Fields, as answer: Fields, hiding secret: HTTP.SecretFields) -> Bool {
        let names = if case .names(let names) = VaryField(answer) { names } else { [String]() }
        let secret = shown.secret.union(secret.more)
        let (former, present) = (Self.kept(self.fields, hiding: secret), Self.kept(fields, hiding: secret))
        return (["accept"] + names).allSatisfy { Self.selector($0, of: former) == Self.selector($0, of: present) }
    }

    /// The value of a field in its normal form. Without `Accept`, any type will do.
    private static func selector(_ name: String, of fields: Fields) -> Bytes {
        let value = NormalValue.of(name, fields.rawValues(of: name))
        return value.isEmpty && name == "accept" ? "*/*" : value
    }
}
