package import DunlinTypes

/// The request's fields that a response depends on (RFC 9111 §4.1).
package enum VaryField: Sendable, Equatable {
    /// These names, in lower case, each once.
    case names([String])
    /// More than the request's fields: it fits no other request. The field has a `*`, is no list of names, or is very
    /// long.
    case everything

    /// The most names, more than anybody has a reason for.
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
