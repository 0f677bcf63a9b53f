package import DunlinTypes

/// Who asks for something that is kept or shared, and under which terms. Equal ones may be given the same.
package struct CacheAsker: Sendable, Hashable {
    /// A unique name of the user that later stages send credentials for; empty for nobody.
    package let user: String
    /// The terms of fetching; empty for the usual ones.
    package let terms: String
    /// The request's own fields, some of which may be credentials, which count beside the user.
    private let fields: Fields
    private let secretFields: HTTP.SecretFields

    package init(
        user: String = "", terms: String = "", fields: Fields, hiding secretFields: HTTP.SecretFields = .usual
    ) {
        (self.user, self.terms, self.fields, self.secretFields) = (user, terms, fields, secretFields)
    }

    /// Whether the request may be sent with a field that these values are without: stages and code that come later know
    /// who asks, and may add it.
    func mayGain(whatIsAbsentIn selecting: SelectingFields) -> Bool { !user.isEmpty && selecting.demandsAbsence }

    /// A text that nobody else has, with the user and the values of the secret fields; nil for nobody.
    package var name: Bytes? {
        let names = CredentialFields.names(in: fields, secretFields)
        if user.isEmpty, names.isEmpty { return nil }
        var text = Array("\(user.utf8.count):\(user)".utf8)
        for name in names.sorted() {
            let value = NormalValue.of(name, fields.rawValues(of: name))
            text += "\(name):\(value.count):".utf8
            text += value
        }
        return Bytes(text)
    }

    /// The name and the terms, to be kept or looked for.
    package struct Name: Sendable, Hashable {
        package let user: Bytes?
        package let terms: String

        /// Nobody, under the usual terms.
        package static let nobody = CacheAsker(fields: Fields()).named

        package static func == (left: Name, right: Name) -> Bool {
            left.user == right.user && left.terms.hasSameBytes(as: right.terms)
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(user)
            hasher.combine(bytesOf: terms)
        }
    }

    package var named: Name { Name(user: name, terms: terms) }

    package static func == (left: CacheAsker, right: CacheAsker) -> Bool { left.named == right.named }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: user)
        hasher.combine(bytesOf: terms)
    }
}

/// Whom a stored response is for.
///
/// Rules:
/// 1. A response that was requested without credentials, or that says it is for others too, is for everybody.
///    One that varies by a field that was not sent is not for those whose requests may gain this field later; if their
///    request brought it, it is for them alone.
/// 2. All else is for who asks as the same user and with the same secret fields. Neither takes the place of the other.
/// 3. What was fetched under some terms is for who asks under equal terms.
/// 4. The user is kept as a hash, as values of secret fields are.
package struct CacheOwner: Sendable, Hashable {
    /// A hash of the user; nil for everybody.
    package let user: Bytes?
    package let terms: String

    package init(user: Bytes?, terms: String) {
        (self.user, self.terms) = (user, terms)
    }

    package static func == (left: CacheOwner, right: CacheOwner) -> Bool {
        left.user == right.user && left.terms.hasSameBytes(as: right.terms)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(user)
        hasher.combine(bytesOf: terms)
    }

    /// Whether who asks under these terms may be given it.
    func hasTerms(of asker: CacheAsker) -> Bool { terms.hasSameBytes(as: asker.terms) }

    package static let everybody = CacheOwner(user: nil, terms: "")

    /// Returns the hash of the user; nil for nobody, and if there is no hash function.
    static func user(of asker: CacheAsker, _ rules: CacheRules) -> Bytes? {
        asker.name.flatMap { rules.hashing(.sha256, $0) }
    }
}

extension CacheOwner: CustomStringConvertible, CustomReflectable {
    /// A text that does not show the user.
    package var description: String { user == nil ? "everybody" : "one user" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
