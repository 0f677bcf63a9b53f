/// Where a picture came from, if that is not where it was asked for: where the last redirect led.
///
/// Tags and dates tell the states of one resource apart. What two URLs say of theirs may be equal by chance: a 304 or a
/// part from one says nothing of the picture from the other. There may be secrets in it, such as a signature.
struct FinalURL: Sendable, Hashable {
    let text: String

    /// Without the fragment, which no server has seen.
    init(_ url: String) {
        text = String(url.prefix { $0 != "#" })
    }
}

extension FinalURL: CustomStringConvertible, CustomReflectable {
    /// Without query, which may hold secrets.
    var description: String { ShownURL.of(text) }
    var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
