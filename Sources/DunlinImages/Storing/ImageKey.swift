internal import Dunlin
internal import DunlinSemantics

/// The key of a picture in a cache: its URL, for whom it is, and what was made from it.
///
/// It is a struct, so that joined texts cannot make the keys of two requests equal.
public struct ImageKey: Sendable, Hashable {
    /// The absolute URL in its normal form (RFC 3986 §6.2.2), without user info and fragment. Text that is not a URL
    /// stays as it is.
    public let url: String
    /// The name of the chain of filters that was applied; nil for none.
    public var filter: String?
    /// The number of pixels for each point.
    public var scale: Double
    /// Who asks for it, by which method and where else than by the URL.
    var asker: Asker

    struct Asker: Sendable, Hashable {
        var name = CacheAsker.Name.nobody
        var method = "GET"
        /// The address and Host that are asked instead of the URL's; empty for none.
        var route = ""
    }

    /// Creates the key of a picture for everybody who asks without credentials.
    public init(url: String, filter: String? = nil, scale: Double = 1) {
        (self.url, self.filter, self.scale) = (Self.normal(url), filter, scale)
        asker = Asker()
    }

    init(_ inquiry: Inquiry, filter: String?, scale: Double) {
        let (url, route) = inquiry.key.parts
        (self.url, self.filter, self.scale) = (url, filter, scale)
        let method = inquiry.identity == nil ? inquiry.method : .get
        asker = Asker(name: inquiry.name, method: method.rawValue, route: route)
    }

    static func normal(_ url: String) -> String {
        do throws(AddressError) {
            let address = try WebAddress(url)
            return CacheKey(origin: address.origin, target: address.target).text
        } catch {
            // As in a URL, no blanks, behind which an address would stand.
            return url.replacing(" ", with: "%20").replacing("\n", with: "%0A")
        }
    }

    var byteCount: Int {
        url.utf8.count + (filter?.utf8.count ?? 0) + (asker.name.user?.count ?? 0) + asker.name.terms.utf8.count
    }
}

/// Texts are compared byte by byte, as servers do.
extension ImageKey {
    public static func == (left: ImageKey, right: ImageKey) -> Bool {
        left.scale == right.scale && left.url.hasSameBytes(as: right.url) && left.filter.hasSameBytes(as: right.filter)
            && left.asker == right.asker
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: url)
        hasher.combine(scale)
    }
}

extension ImageKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Without query and user, which may contain secrets.
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
