extension HTTPSession {
    /// How a session obtains a credential for its requests, and another one when that is refused.
    ///
    /// ```swift
    /// .bearer { client in try await newToken(by: client) }     // a token that a closure gets
    /// .by(OAuth())                                             // any ``HTTPSession/Authenticator``
    /// ```
    public struct Authentication: Sendable {
        /// A method that the chain turns into a stage.
        protocol Method: Sendable {}

        let method: any Method
    }
}

extension HTTPSession.Authentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Hides what it was created with, which may be secret.
    public var description: String { "authentication" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
