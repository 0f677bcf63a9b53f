/// The credentials for a proxy. A secret: no description shows it.
package struct ProxyCredentials: Sendable {
    package let user: String
    package let password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension ProxyCredentials: Hashable {
    /// Compares bytes: texts that Unicode treats as equal are different passwords to a proxy, and must not share
    /// connections.
    package static func == (left: ProxyCredentials, right: ProxyCredentials) -> Bool {
        left.user.utf8.elementsEqual(right.user.utf8) && left.password.utf8.elementsEqual(right.password.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in user.utf8 { hasher.combine(byte) }
        // A byte that UTF-8 never has separates the two.
        hasher.combine(UInt8.max)
        for byte in password.utf8 { hasher.combine(byte) }
    }
}

extension ProxyCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "***" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
