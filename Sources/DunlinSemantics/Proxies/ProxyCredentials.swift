internal import DunlinTypes

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
        left.user.hasSameBytes(as: right.user) && left.password.hasSameBytes(as: right.password)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: user)
        hasher.combine(bytesOf: password)
    }
}

extension ProxyCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "***" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
