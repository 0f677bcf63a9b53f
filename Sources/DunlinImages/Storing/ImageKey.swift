internal import Dunlin
internal import DunlinSemantics

/// The key of a picture in a cache: its URL, and what was made from it.
///
/// It is a struct, so that joined texts cannot make the keys of two requests equal.
public struct ImageKey: Sendable, Hashable {
    /// The absolute URL.
    public var url: String
    /// The name of the chain of filters that was applied; nil for none.
    public var filter: String?
    /// The number of pixels for each point.
    public var scale: Double
    /// The request's fields that may have determined the picture, with names in lower case. No description shows them.
    public var selection: [String: String]

    public init(url: String, filter: String? = nil, scale: Double = 1, selection: [String: String] = [:]) {
        (self.url, self.filter, self.scale, self.selection) = (url, filter, scale, selection)
    }
}

/// Texts are compared byte by byte, as servers do.
extension ImageKey {
    public static func == (left: ImageKey, right: ImageKey) -> Bool {
        left.scale == right.scale && left.url.hasSameBytes(as: right.url) && left.filter.hasSameBytes(as: right.filter)
            && left.exactSelection == right.exactSelection
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: url)
        hasher.combine(scale)
    }

    private var exactSelection: [String: ExactText] { selection.mapValues { ExactText($0) } }
}

extension ImageKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Without user info, query and fields, which may contain secrets.
    public var description: String {
        "\(ShownURL.of(url))\(filter.map { " (\($0))" } ?? "")\(scale == 1 ? "" : " @\(scale)x")"
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// URLs in a form that may be shown.
package enum ShownURL {
    /// The URL without user info, query and fragment, and without control sequences.
    package static func of(_ url: String) -> String {
        VisibleText.of(WebAddress.shown(url).prefix { !"?#".contains($0) })
    }
}
