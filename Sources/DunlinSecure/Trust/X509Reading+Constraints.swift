internal import COpenSSL
internal import DunlinTypes

extension X509Reading {
    /// Returns the hosts that an authority may vouch for; all if it does not say. Nil if its constraints cannot be
    /// read, or occur twice.
    static func nameConstraints(_ authority: OpaquePointer) -> NameConstraints? {
        var found: Int32 = 0
        guard let read = X509_get_ext_d2i(authority, NID_name_constraints, &found, nil) else {
            OpenSSLErrors.clear()
            // -1 means that there is no such extension.
            return found == -1 ? NameConstraints() : nil
        }
        let constraints = read.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        return NameConstraints(
            permitted: trees(constraints.pointee.permittedSubtrees),
            excluded: trees(constraints.pointee.excludedSubtrees))
    }

    /// Returns the trees of the kinds that hosts have.
    private static func trees(_ stack: OpaquePointer?) -> [NameConstraints.Tree] {
        guard let stack else { return [] }
        return (0..<dunlin_subtree_count(stack)).compactMap { index in
            var kind: Int32 = 0
            guard let base = dunlin_subtree_base_at(stack, index), let value = GENERAL_NAME_get0_value(base, &kind)
            else { return nil }
            switch kind {
            case GEN_DNS: return .domain(contents(value))
            case GEN_IPADD: return .network(contents(value))
            default: return nil
            }
        }
    }
}
