internal import DunlinSemantics

/// A URL as somebody wrote it. It may contain a password, which no description shows.
package struct AddressText: Sendable, Hashable {
    package var text: String

    package init(text: String) {
        self.text = text
    }
}

extension AddressText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { WebAddress.shown(text) }
    package var debugDescription: String { description.debugDescription }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
