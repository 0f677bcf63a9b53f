internal import Dunlin
internal import DunlinSemantics

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
        VisibleText.of(WebAddress.shown(url).prefix { !"?#".contains($0) })
    }
}
