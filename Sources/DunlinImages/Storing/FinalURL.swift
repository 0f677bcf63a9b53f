/// The URL that a picture came from, if redirects led to another than the requested one.
///
/// Tags and dates distinguish the states of one resource. Those of two URLs may be equal by chance, so a 304 or a part
/// from one says nothing about the picture from the other. The URL may contain secrets, such as a signature.
struct FinalURL: Sendable, Hashable {
    let text: String

    /// Creates it without the fragment, which no server has seen.
    init(_ url: String) {
        text = String(url.prefix { $0 != "#" })
    }
}

extension FinalURL: CustomStringConvertible, CustomReflectable {
    /// Without the query, which may contain secrets.
    var description: String { ShownURL.of(text) }
    var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
