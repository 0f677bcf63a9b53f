public import DunlinTypes

/// The properties of a request that decide about cookies: its host, its path, and whether it is secure.
public struct CookieScope: Sendable {
    public let host: String
    public let isSecure: Bool
    private let target: String

    /// Creates a scope; `target` is in origin form.
    public init(origin: HTTP.Origin, target: String) {
        host = origin.host
        isSecure = origin.scheme == .https
        self.target = target
    }

    public var path: String {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        return path.first == UInt8(ascii: "/") ? String(decoding: path, as: UTF8.self) : "/"
    }

    /// Whether the host is an address, which has no domains above it.
    var isAddress: Bool { HostLiteral.parse(host, port: 0) != nil }

    /// Whether the host is the domain or lies below it (RFC 6265bis §5.1.3).
    func isWithin(_ domain: String) -> Bool {
        host == domain || (!isAddress && Self.isName(host, below: domain))
    }

    /// The host and, if it is a name, every domain above it.
    var domains: [String] {
        var domains = [host]
        if isAddress { return domains }
        var rest = host.utf8[...]
        while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.index(after: dot)...]
            domains.append(String(decoding: rest, as: UTF8.self))
        }
        return domains
    }

    /// The path of a cookie that names none: the directory that was asked for (§5.1.4).
    var defaultPath: String {
        let path = path
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(decoding: path.utf8[..<slash], as: UTF8.self)
    }

    static func isName(_ name: String, below domain: String) -> Bool {
        let (name, domain) = (name.utf8, domain.utf8)
        guard !domain.isEmpty, name.count > domain.count else { return false }
        return name.suffix(domain.count).elementsEqual(domain)
            && name.dropLast(domain.count).last == UInt8(ascii: ".")
    }

    /// Whether the path is the other or lies below it (§5.1.4).
    static func isPath(_ path: String, within other: String) -> Bool {
        let (path, other) = (path.utf8, other.utf8)
        guard path.starts(with: other) else { return false }
        return path.count == other.count || other.last == UInt8(ascii: "/")
            || path.dropFirst(other.count).first == UInt8(ascii: "/")
    }
}
