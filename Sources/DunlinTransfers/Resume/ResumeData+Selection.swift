internal import DunlinSemantics
internal import DunlinTransport

extension ResumeData {
    /// Whether a request with these fields is for the same form of the file, such as its language or type, by an answer
    /// that says what its form depends on. A server may give all forms one entity tag.
    ///
    /// Secret fields say who asks, which is compared as such. A server that does not repeat its `Vary` in a part is
    /// taken to depend on the usual fields only.
    func isSelected(by fields: Fields, as answer: Fields) -> Bool {
        let request = Self.kept(fields, hiding: shown.secret)
        return Self.selecting(answer).allSatisfy { name in
            NormalValue.of(name, self.fields.rawValues(of: name)) == NormalValue.of(name, request.rawValues(of: name))
        }
    }

    /// The names of the fields that an answer depends on, apart from those that are not kept.
    private static func selecting(_ answer: Fields) -> [String] {
        let usual = ["accept", "accept-language", "accept-charset"]
        guard case .names(let names) = VaryField(answer) else { return usual }
        return usual + names
    }
}
