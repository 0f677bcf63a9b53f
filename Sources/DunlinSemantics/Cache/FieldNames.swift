internal import DunlinTypes

/// A list of field names: Vary, Connection, the argument of `no-cache`.
enum FieldNames {
    /// Returns the names in lower case, in order; nil if a member is no name. `*` counts as one.
    static func all(in value: Bytes) -> [String]? {
        var reader = ValueReader(value)
        var names: [String] = []
        while true {
            repeat { reader.skipBlanks() } while reader.take(",")
            if reader.isAtEnd { return names }
            guard let name = reader.token(), reader.isAtElementEnd else { return nil }
            names.append(name.lowercased())
        }
    }
}
