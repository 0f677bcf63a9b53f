package import DunlinTypes

/// What is asked about revocation. Nothing, unless somebody says so.
package struct RevocationRules: Sendable, Hashable {
    package enum Staple: String, Sendable, Hashable {
        case ignored
        /// Checked when the server sends one, and missed when the certificate says that it will.
        case checkedIfPresent
        case required
    }

    /// Revocation lists, each DER.
    package var lists: [Bytes] = []
    /// Authorities as well, not the server's own certificate alone.
    package var coversAuthorities = false
    /// Whether an issuer without a list is no reason to refuse.
    package var allowsMissingLists = false
    package var staple = Staple.ignored

    package init() {}

    /// Nothing is asked.
    var isIgnored: Bool { lists.isEmpty && staple == .ignored }
}
