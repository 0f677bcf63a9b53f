extension HTTPSession {
    /// How a session proves who its user is, and does so again when that is refused.
    ///
    /// ```swift
    /// .bearer { client in try await newToken(by: client) }     // a token that a closure gets
    /// .password(user: "ada", password: secret)                 // answers challenges, Digest before Basic
    /// .by(OAuth())                                             // any ``HTTPSession/Authenticator``
    /// ```
    public struct Authentication: Sendable {
        /// Something that the chain makes a stage of.
        package protocol Method: Sendable {
            /// Who answers challenges by a password, for requests that are said as commands.
            var login: CurlSettings.Login? { get }
        }

        let method: any Method

        /// Whether it sends something before a server has asked.
        var isUnasked: Bool { !(method is HTTPSession.Password) }

        init(_ method: any Method) {
            self.method = method
        }
    }
}

extension HTTPSession.Authentication.Method {
    package var login: CurlSettings.Login? { nil }
}

extension HTTPSession.Authentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows nothing of what it was made with, which may be secret.
    public var description: String { "authentication" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
