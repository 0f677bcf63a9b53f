internal import DunlinSemantics

/// A URL as somebody wrote it, which may have a password in it: no description shows that.
struct AddressText: Sendable, Hashable {
    var text: String
}

extension AddressText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { WebAddress.shown(text) }
    var debugDescription: String { description.debugDescription }
    var customMirror: Mirror { Mirror(self, children: []) }
}
