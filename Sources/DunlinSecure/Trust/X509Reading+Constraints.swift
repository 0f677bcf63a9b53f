internal import COpenSSL
internal import DunlinTypes

extension X509Reading {
    /// For which hosts an authority may vouch: for all, where it does not say. Nil if what it says cannot be read, or
    /// stands there twice.
    static func nameConstraints(_ authority: OpaquePointer) -> NameConstraints? {
        var found: Int32 = 0
        guard let read = X509_get_ext_d2i(authority, NID_name_constraints, &found, nil) else {
            OpenSSLErrors.clear()
            // -1 says that there is none.
            return found == -1 ? NameConstraints() : nil
        }
        let constraints = read.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        return NameConstraints(
            permitted: trees(constraints.pointee.permittedSubtrees),
            excluded: trees(constraints.pointee.excludedSubtrees))
    }

    /// Those of kinds that hosts are of.
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
