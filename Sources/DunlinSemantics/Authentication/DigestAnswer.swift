/// An answer to a Digest challenge: the value of a field, and what it takes to know what the server says of it.
package struct DigestAnswer: Sendable {
    package enum Cause: Sendable, Hashable {
        /// Nobody asked within this call: the request is in a protection space that is known.
        case unasked
        case challenged
        /// The second answer of a call, with a new nonce. There is no third.
        case renewed
    }

    /// Of Authorization or Proxy-Authorization. As good as the password as long as the server takes the nonce.
    package let value: String
    package let cause: Cause
    package let nonce: String
    package let clientNonce: String
    /// Eight hexadecimal digits.
    package let count: String
    package let quality: DigestQuality?
    let realm: String
    let target: String
    let algorithm: DigestAlgorithm
    /// What was made of user name, realm and password: as good as the password in this realm.
    let key: String
    let user: String
    let password: String

    /// Whether it was made of these.
    package func isBy(user: String, password: String) -> Bool {
        DigestMachine.isSame(self.user, user) && DigestMachine.isSame(self.password, password)
    }
}

extension DigestAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing secret: descriptions end in logs.
    package var description: String { "Digest answer" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
