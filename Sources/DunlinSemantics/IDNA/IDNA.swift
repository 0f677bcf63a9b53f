/// Internationalized host names by UTS 46 (Unicode 17): non-transitional, with UseSTD3ASCIIRules, CheckBidi,
/// CheckJoiners and VerifyDnsLength. CheckHyphens is off, as the WHATWG URL Standard has it: names with hyphens
/// anywhere are in use.
///
/// A single dot at the end stands for the root and is kept. Names in ASCII without a Punycode label need no table.
public enum IDNA {
    /// Returns the name as sent and as given to a resolver.
    public static func toASCII(_ host: String) throws(IDNAError) -> String {
        try toASCII(host, allowingUnderscores: false)
    }

    static func toASCII(_ host: String, allowingUnderscores: Bool) throws(IDNAError) -> String {
        let scalars =
            try host.utf8.allSatisfy { $0 < 0x80 }
            ? host.unicodeScalars.map(lowercased) : IDNAMapping.mapped(host)
        // No scalar takes less than a byte; the second of these looks at what they did take.
        guard scalars.count <= 254 else { throw IDNAError(problem: .nameTooLong, label: host) }
        var parts = scalars.split(separator: ".", omittingEmptySubsequences: false)
        let isRooted = parts.count > 1 && parts.last?.isEmpty == true
        if isRooted { parts.removeLast() }
        var labels: [HostLabel] = []
        for part in parts { labels.append(try HostLabel(Array(part), allowingUnderscores: allowingUnderscores)) }
        try LabelRules.checkDirections(labels.map(\.scalars))
        let name = labels.map(\.ascii).joined(separator: ".")
        guard name.utf8.count <= 253 else { throw IDNAError(problem: .nameTooLong, label: host) }
        return isRooted ? name + "." : name
    }

    private static func lowercased(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
    }
}
