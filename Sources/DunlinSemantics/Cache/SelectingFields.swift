package import DunlinTypes

/// The values that a response depends on, of the request that it was for (RFC 9111 §4.1): its secondary key.
///
/// A field that was not there is only matched by a request without it. Values are compared in a normal form, and those
/// of secret fields are kept as hashes.
package struct SelectingFields: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        /// In lower case.
        package let name: String
        /// In its normal form, or a hash of that; nil if the request did not have the field.
        package let value: Bytes?

        package init(name: String, value: Bytes?) {
            self.name = name
            self.value = value
        }
    }

    package let members: [Member]

    package init(_ members: [Member] = []) {
        self.members = members
    }

    /// Nil if a secret cannot be hashed.
    package init?(_ names: [String], of request: Fields, _ rules: CacheRules) {
        var members: [Member] = []
        for name in names {
            guard let value = Self.value(of: name, request, rules) else { return nil }
            members.append(Member(name: name, value: value))
        }
        self.members = members
    }

    package func matches(_ request: Fields, _ rules: CacheRules) -> Bool {
        members.allSatisfy { member in
            guard let value = Self.value(of: member.name, request, rules) else { return false }
            return value == member.value
        }
    }

    /// Nil within for a field that is not there; nil altogether if a secret cannot be hashed.
    private static func value(of name: String, _ request: Fields, _ rules: CacheRules) -> Bytes?? {
        guard request.contains(name) else { return .some(nil) }
        let value = NormalValue.of(name, request.rawValues(of: name))
        guard rules.secretFields.mayContain(name) || request.isSensitive(name) else { return value }
        return rules.hashing(.sha256, value).map { .some($0) }
    }
}

extension SelectingFields: CustomStringConvertible, CustomReflectable {
    /// The names alone.
    package var description: String { members.map(\.name).joined(separator: ", ") }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
