package import DunlinTypes

/// The rules for revocation; nothing is checked by default.
package struct RevocationRules: Sendable, Hashable {
    package enum Staple: String, Sendable, Hashable {
        case ignored
        /// A staple is checked if sent, and required if the certificate announces one.
        case checkedIfPresent
        case required
    }

    /// The revocation lists, each in DER.
    package var lists: [Bytes] = []
    /// Whether authorities are checked too, not only the server's certificate.
    package var coversAuthorities = false
    /// Whether an issuer may lack a list.
    package var allowsMissingLists = false
    package var staple = Staple.ignored

    package init() {}

    /// Whether nothing is checked.
    var isIgnored: Bool { lists.isEmpty && staple == .ignored }
}
