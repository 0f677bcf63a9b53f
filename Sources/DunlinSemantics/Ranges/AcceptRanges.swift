public import DunlinTypes

/// What a server says of ranges before it is asked for one (RFC 9110 §14.3).
public enum AcceptRanges: Sendable, Hashable {
    case bytes
    /// Others than of bytes only, or none at all.
    case none
    /// It does not say, and may have them nevertheless.
    case unsaid

    public init(_ fields: Fields) {
        let values = fields.values(of: "accept-ranges")
        let units = values.flatMap { $0.split { $0 == "," || $0 == " " || $0 == "\t" } }.map { $0.lowercased() }
        self = units.contains("bytes") ? .bytes : values.isEmpty ? .unsaid : .none
    }
}
