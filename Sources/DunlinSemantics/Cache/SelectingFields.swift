package import DunlinTypes

/// The values that a response depends on, of the request that it was for (RFC 9111 §4.1): its secondary key.
///
/// A field that was not there is only matched by a request without it. Values are compared in a normal form, and those
/// of secret fields are kept as hashes.
package struct SelectingFields: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        /// The name in lower case.
        package let name: String
        /// The value in its normal form, or a hash of that; nil if the request did not have the field.
        package let value: Bytes?
        package let isHash: Bool
        /// The value as the request had it, if known: most later ones are written the same.
        let written: Bytes?

        package init(name: String, value: Bytes?, isHash: Bool = false, written: Bytes? = nil) {
            self.name = name
            // A stored value keeps no other part of its request.
            self.value = value.map { Bytes($0.array) }
            self.isHash = isHash
            self.written = isHash ? nil : written.map { Bytes($0.array) }
        }

        package static func == (left: Member, right: Member) -> Bool {
            left.name == right.name && left.value == right.value && left.isHash == right.isHash
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(value)
        }

        fileprivate func matches(_ request: Fields, _ rules: CacheRules) -> Bool {
            let values = request.rawValues(of: name)
            guard let value, !values.isEmpty else { return value == nil && values.isEmpty }
            if values.count == 1, values[0] == written { return true }
            return value == SelectingFields.value(of: name, values, rules, isHash: isHash)
        }
    }

    package let members: [Member]

    package init(_ members: [Member] = []) {
        self.members = members
    }

    /// Creates the values; nil if a secret cannot be hashed.
    package init?(_ names: [String], of request: Fields, _ rules: CacheRules) {
        var members: [Member] = []
        for name in names {
            let values = request.rawValues(of: name)
            guard let first = values.first else {
                members.append(Member(name: name, value: nil))
                continue
            }
            let isSecret = request.holdsSecret(name, rules.secretFields)
            guard let value = Self.value(of: name, values, rules, isHash: isSecret) else { return nil }
            let written = values.count == 1 ? first : nil
            members.append(Member(name: name, value: value, isHash: isSecret, written: written))
        }
        self.members = members
    }

    /// Whether only requests without some field are matched.
    var demandsAbsence: Bool { members.contains { $0.value == nil } }

    package func matches(_ request: Fields, _ rules: CacheRules) -> Bool {
        members.allSatisfy { $0.matches(request, rules) }
    }

    /// Returns a value or its hash; nil if there is no hash.
    private static func value(of name: String, _ values: [Bytes], _ rules: CacheRules, isHash: Bool) -> Bytes? {
        let value = NormalValue.of(name, values)
        return isHash ? rules.hashing(.sha256, value) : value
    }
}

extension SelectingFields: CustomStringConvertible, CustomReflectable {
    /// The names only.
    package var description: String { members.map(\.name).joined(separator: ", ") }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
