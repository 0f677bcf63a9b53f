/// Domains below which strangers register names: `com`, `co.uk`. A cookie for one of them would go to all of them.
///
/// Reads the text of publicsuffix.org/list, its private part included: a rule a line, up to the first blank; `*.` for
/// any one label, `!` for an exception to that, `//` for a comment. What is no rule is left out. A domain of a single
/// label is a suffix whatever the rules say.
public struct PublicSuffixes: Sendable {
    private var rules: Set<String> = []
    /// The domains after a `*.`.
    private var wildcards: Set<String> = []
    private var exceptions: Set<String> = []

    /// Creates rules in which only single labels are suffixes.
    public init() {}

    public init(parsing text: [UInt8]) {
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) { take(line) }
    }

    public var count: Int { rules.count + wildcards.count + exceptions.count }

    private mutating func take(_ line: ArraySlice<UInt8>) {
        let rule = line.prefix { $0 != 0x20 && $0 != 0x09 }
        guard let first = rule.first, !rule.starts(with: [0x2F, 0x2F]) else { return }
        switch first {
        case UInt8(ascii: "!"): Self.insert(rule.dropFirst(), into: &exceptions)
        case UInt8(ascii: "*") where rule.dropFirst().first == UInt8(ascii: "."):
            Self.insert(rule.dropFirst(2), into: &wildcards)
        default: Self.insert(rule, into: &rules)
        }
    }

    private static func insert(_ name: ArraySlice<UInt8>, into names: inout Set<String>) {
        guard !name.isEmpty, !name.contains(UInt8(ascii: "*")), let text = String(validating: name, as: UTF8.self)
        else { return }
        if name.allSatisfy({ $0 < 0x80 }) {
            names.insert(text.lowercased())
            return
        }
        do throws(IDNAError) {
            names.insert(try IDNA.toASCII(text))
        } catch {
            // No host is spelled like that, so there is nothing to protect.
            return
        }
    }

    /// Whether a domain is a public suffix. It is in lower-case ASCII, with or without a final dot.
    public func contains(_ domain: String) -> Bool {
        let domain = domain.utf8.last == UInt8(ascii: ".") ? String(domain.dropLast()) : domain
        guard let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return true }
        if exceptions.contains(domain) { return false }
        return rules.contains(domain) || wildcards.contains(String(domain[domain.utf8.index(after: dot)...]))
    }

    /// Returns the sites of a host and of all domains above it, given from the longest to the shortest, in one pass.
    func sites(of domains: [String]) -> [String] {
        if domains.count == 1 { return [site(of: domains[0])] }
        var sites: [String] = []
        // Whether the domain above is a suffix.
        var isSuffix = true
        for domain in domains.reversed() {
            let name = domain.utf8.last == UInt8(ascii: ".") ? String(domain.dropLast()) : domain
            let isBelowSuffix = isSuffix
            isSuffix = contains(name)
            sites.append(isSuffix || isBelowSuffix ? name : sites[sites.count - 1])
        }
        return sites.reversed()
    }

    /// The registrable domain that a host belongs to: the label before the longest public suffix above it, and that
    /// suffix. Without rules these are the last two labels. A suffix, a single label and an address stand for
    /// themselves.
    func site(of host: String) -> String {
        let host = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        if HostLiteral.parse(host, port: 0) != nil || contains(host) { return host }
        var domain = host[...]
        while let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) {
            let above = domain[domain.utf8.index(after: dot)...]
            if contains(String(above)) { break }
            domain = above
        }
        return String(domain)
    }
}
