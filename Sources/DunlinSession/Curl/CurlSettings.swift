internal import DunlinSemantics
internal import DunlinTransport

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
    let way: Way

    /// What is known of proxies.
    enum Way: Sendable {
        /// Nothing: a command goes as its own environment says.
        case unsaid
        case direct
        case chosen(ConnectionRules.ProxyChooser)
    }

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
        login: Login? = nil, way: Way = .unsaid
    ) {
        self.secretFields = secretFields
        self.redirects = redirects
        self.tls = tls
        self.interface = interface
        self.decodes = decodes
        self.login = login
        self.way = way
    }

    /// The settings for a request that follows redirects, takes codings off, answers challenges or goes in its own way.
    func with(
        _ redirects: HTTPSession.RedirectPolicy?, decodes: Bool, login: Login?, way: Way? = nil
    ) -> CurlSettings {
        if redirects == nil, way == nil, decodes == self.decodes, login == self.login { return self }
        return CurlSettings(
            secretFields, redirects: redirects ?? self.redirects, tls: tls, interface: interface, decodes: decodes,
            login: login, way: way ?? self.way)
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
