/// By what a cache knows the picture of a request: where it is from, and what was made of it.
///
/// A struct, so that no two requests have the same key by how their texts meet.
public struct ImageKey: Sendable, Hashable {
    /// The whole URL.
    public var url: String
    /// What the chain of filters is called that the picture went through; nil for none.
    public var filter: String?
    /// Pixels for each point.
    public var scale: Double
    /// The fields of the request that may have decided which picture it is, their names in lower case. No description
    /// shows them.
    public var selection: [String: String]

    public init(url: String, filter: String? = nil, scale: Double = 1, selection: [String: String] = [:]) {
        (self.url, self.filter, self.scale, self.selection) = (url, filter, scale, selection)
    }
}

extension ImageKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Without user info, query and fields, which may hold secrets.
    public var description: String {
        "\(ShownURL.of(url))\(filter.map { " (\($0))" } ?? "")\(scale == 1 ? "" : " @\(scale)x")"
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// URLs as they may be shown.
package enum ShownURL {
    /// Without user info, query and fragment, and without what a terminal would obey.
    package static func of(_ url: String) -> String {
        guard let start = beginningOfHost(url) else { return visible(url.prefix { !"?#".contains($0) }) }
        let rest = url[start...]
        let authority = rest.prefix { !"/?#".contains($0) }
        var shown = rest
        if let at = authority.lastIndex(of: "@") {
            shown = rest[rest.index(after: at)...]
        } else if !endsInPort(authority), let at = rest.lastIndex(of: "@") {
            // A password may have any of these signs in it, if whoever wrote it did not encode them.
            shown = rest[rest.index(after: at)...]
        }
        return visible(url[..<start] + shown.prefix { !"?#".contains($0) })
    }

    private static func visible(_ text: some StringProtocol) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isObeyed = [.control, .format].contains(scalar.properties.generalCategory)
            shown.append(isObeyed ? "\u{FFFD}" : scalar)
        }
        return String(shown)
    }

    private static func beginningOfHost(_ url: String) -> String.Index? {
        if url.hasPrefix("//") { return url.index(url.startIndex, offsetBy: 2) }
        return url.firstRange(of: "://")?.upperBound
    }

    /// Whether behind the last colon, if there is one, is the number of a port, or the end of an address.
    private static func endsInPort(_ authority: Substring) -> Bool {
        guard let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") else { return true }
        return authority[authority.index(after: colon)...].utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
