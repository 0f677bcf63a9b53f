internal import DunlinTypes

/// An answer to a Digest challenge: the field's value, and what is needed to check the server's confirmation.
package struct DigestAnswer: Sendable {
    package enum Cause: Sendable, Hashable {
        /// The request is in a known protection space, and was not challenged within this call.
        case unasked
        case challenged
        /// It is the second answer of a call, with a new nonce. There is no third.
        case renewed
    }

    /// The value of Authorization or Proxy-Authorization. As good as the password while the server accepts the nonce.
    package let value: String
    package let cause: Cause
    package let nonce: String
    package let clientNonce: String
    /// The nonce's count in eight hexadecimal digits.
    package let count: String
    package let quality: DigestQuality?
    let realm: String
    let target: String
    let algorithm: DigestAlgorithm
    /// The key from user name, realm and password: as good as the password in this realm.
    let key: String
    let user: String
    let password: String

    /// Whether it was made with these.
    package func isBy(user: String, password: String) -> Bool {
        self.user.hasSameBytes(as: user) && self.password.hasSameBytes(as: password)
    }
}

extension DigestAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing secret: descriptions end in logs.
    package var description: String { "Digest answer" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
