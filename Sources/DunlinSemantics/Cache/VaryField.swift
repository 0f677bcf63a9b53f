package import DunlinTypes

/// On which fields of the request a response depends (RFC 9111 §4.1).
package enum VaryField: Sendable, Equatable {
    /// In lower case, each once.
    case names([String])
    /// On more than the request's fields: it fits no other request. Said by `*`, anywhere in the field, and taken for
    /// said where the field is no list of names, or one of very many.
    case everything

    /// More names than anybody has a reason for.
    private static let most = 100

    package init(_ fields: Fields) {
        var names: [String] = []
        for value in fields.rawValues(of: "vary") {
            guard let more = FieldNames.all(in: value), !more.contains("*") else {
                self = .everything
                return
            }
            for name in more where !names.contains(name) {
                names.append(name)
                if names.count > Self.most {
                    self = .everything
                    return
                }
            }
        }
        self = .names(names)
    }
}
