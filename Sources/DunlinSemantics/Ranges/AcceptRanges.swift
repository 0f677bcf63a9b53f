public import DunlinTypes

/// A server's statement on ranges in general (RFC 9110 §14.3).
public enum AcceptRanges: Sendable, Hashable {
    case bytes
    /// It has no ranges, or none of bytes.
    case none
    /// It does not say, and may have them.
    case unsaid

    public init(_ fields: Fields) {
        let values = fields.values(of: "accept-ranges")
        let units = values.flatMap { $0.split { $0 == "," || $0 == " " || $0 == "\t" } }.map { $0.lowercased() }
        self = units.contains("bytes") ? .bytes : values.isEmpty ? .unsaid : .none
    }
}
