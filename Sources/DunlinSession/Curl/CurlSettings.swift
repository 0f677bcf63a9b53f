internal import DunlinSemantics

/// What a session's settings mean for a request that is said as a command. Made once for a session, and looked at only
/// when somebody asks for a command.
package final class CurlSettings: Sendable {
    let secretFields: HTTP.SecretFields
    let redirects: HTTPSession.RedirectPolicy
    let tls: HTTPSession.TLS
    /// The interface that sockets are bound to.
    let interface: String?
    /// Whether content codings are taken off.
    let decodes: Bool
    /// By whom challenges of one origin are answered.
    let login: Login?

    /// A user, and the origin that the password is for.
    package struct Login: Sendable, Equatable {
        var origin: HTTP.Origin?
        let user: String
        let password: String
        /// Whether the password is sent as it is where everybody on the way can read it.
        let allowsBasicInClearText: Bool
        /// Whether Basic is answered at all.
        let answersBasic: Bool
    }

    init(
        _ secretFields: HTTP.SecretFields = .usual, redirects: HTTPSession.RedirectPolicy = .init(),
        tls: HTTPSession.TLS = .init(), interface: String? = nil, decodes: Bool = true,
        login: Login? = nil
    ) {
        self.secretFields = secretFields
        self.redirects = redirects
        self.tls = tls
        self.interface = interface
        self.decodes = decodes
        self.login = login
    }

    /// The settings for a request that follows redirects, takes codings off, or answers challenges in its own way.
    func with(_ redirects: HTTPSession.RedirectPolicy?, decodes: Bool, login: Login?) -> CurlSettings {
        if redirects == nil, decodes == self.decodes, login == self.login { return self }
        return CurlSettings(
            secretFields, redirects: redirects ?? self.redirects, tls: tls, interface: interface, decodes: decodes,
            login: login)
    }
}

extension CurlSettings.Login {
    /// Whether a field's value is an answer by this user.
    func hasMade(_ value: String) -> Bool {
        if BasicChallenge.isAnswer(value, user: user, password: password) { return true }
        guard value.lowercased().hasPrefix("digest ") else { return false }
        let quoted = user.split(separator: #"\"#, omittingEmptySubsequences: false).joined(separator: #"\\"#)
            .split(separator: #"""#, omittingEmptySubsequences: false).joined(separator: #"\""#)
        // Of a hashed name, and one beyond ASCII, the origin has to do.
        return value.contains(#"username="\#(quoted)""#) || value.contains("userhash=true")
            || value.contains("username*=")
    }
}
