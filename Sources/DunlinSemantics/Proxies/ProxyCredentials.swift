/// Who asks a proxy. A secret: no description shows it.
package struct ProxyCredentials: Sendable {
    package let user: String
    package let password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension ProxyCredentials: Hashable {
    /// Byte for byte: what Unicode takes for the same is two passwords to a proxy, and what one of them opened is not
    /// for who has the other.
    package static func == (left: ProxyCredentials, right: ProxyCredentials) -> Bool {
        left.user.utf8.elementsEqual(right.user.utf8) && left.password.utf8.elementsEqual(right.password.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in user.utf8 { hasher.combine(byte) }
        // No byte of UTF-8: it parts the two.
        hasher.combine(UInt8.max)
        for byte in password.utf8 { hasher.combine(byte) }
    }
}

extension ProxyCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "***" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
