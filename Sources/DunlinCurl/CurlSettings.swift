package import DunlinRules
internal import DunlinSemantics
package import DunlinTransport
package import DunlinTypes

/// A session's settings as far as they matter for commands. Created once for a session, and used only when somebody
/// asks for a command.
package final class CurlSettings: Sendable {
    package let secretFields: HTTP.SecretFields
    let redirects: RedirectMachine.Policy
    let trust: Trust
    /// The interface that sockets are bound to.
    let interface: String?
    /// Whether content codings are removed.
    package let decodes: Bool
    /// Who answers one origin's challenges.
    package let login: Login?
    /// Whether a password goes by Basic where everybody on the way can read it.
    let allowsBasicInClearText: Bool
    let proxyUse: ProxyUse

    /// The proxy of a command, as far as it is known.
    package enum ProxyUse: Sendable {
        /// Nothing is known: the command uses its own environment.
        case unsaid
        case direct
        case chosen(ConnectionRules.ProxyChooser)
    }

    /// A user, and the origin that the password is for.
    package struct Login: Sendable, Equatable {
        package var origin: HTTP.Origin?
        let user: String
        let password: String
        /// Whether Basic challenges are answered.
        let answersBasic: Bool

        package init(
            origin: HTTP.Origin? = nil, user: String, password: String, answersBasic: Bool
        ) {
            (self.origin, self.user, self.password, self.answersBasic) = (origin, user, password, answersBasic)
        }
    }

    /// Which servers are trusted, and the session's own identity.
    package struct Trust: Sendable {
        let believesAll: Bool
        let isPinning: Bool
        /// The files of authorities; nil for one that is not in a file.
        let authorities: [String?]
        let identity: Identity?

        package init(
            believesAll: Bool = false, isPinning: Bool = false, authorities: [String?] = [], identity: Identity? = nil
        ) {
            (self.believesAll, self.isPinning) = (believesAll, isPinning)
            (self.authorities, self.identity) = (authorities, identity)
        }
    }

    package struct Identity: Sendable {
        package enum Form: Sendable {
            case pem(String, key: Key)
            case pkcs12(String)
            /// The identity is not in a file.
            case unnamed
        }

        package enum Key: Sendable {
            case withCertificates
            case file(String)
            case unnamed
        }

        let form: Form
        let passphrase: String?

        package init(_ form: Form, passphrase: String?) {
            (self.form, self.passphrase) = (form, passphrase)
        }
    }

    package init(
        _ secretFields: HTTP.SecretFields = .usual, redirects: RedirectMachine.Policy = .init(),
        trust: Trust = .init(), interface: String? = nil, decodes: Bool = true,
        login: Login? = nil, allowsBasicInClearText: Bool = false, proxyUse: ProxyUse = .unsaid
    ) {
        self.secretFields = secretFields
        self.redirects = redirects
        self.trust = trust
        self.interface = interface
        self.decodes = decodes
        (self.login, self.allowsBasicInClearText) = (login, allowsBasicInClearText)
        self.proxyUse = proxyUse
    }

    /// The settings for a request that follows redirects, removes codings, answers challenges or takes its own way.
    package func with(
        _ redirects: RedirectMachine.Policy?, decodes: Bool, login: Login?, proxyUse: ProxyUse? = nil
    ) -> CurlSettings {
        if redirects == nil, proxyUse == nil, decodes == self.decodes, login == self.login { return self }
        return CurlSettings(
            secretFields, redirects: redirects ?? self.redirects, trust: trust, interface: interface, decodes: decodes,
            login: login, allowsBasicInClearText: allowsBasicInClearText, proxyUse: proxyUse ?? self.proxyUse)
    }
}

extension CurlSettings.Login {
    /// Whether a field's value is this user's answer.
    func hasMade(_ value: String) -> Bool {
        if BasicChallenge.isAnswer(value, user: user, password: password) { return true }
        guard value.lowercased().hasPrefix("digest ") else { return false }
        let quoted = user.parts(at: UInt8(ascii: "\\")).joined(separator: #"\\"#)
            .parts(at: UInt8(ascii: "\"")).joined(separator: #"\""#)
        // For a hashed name, and for one beyond ASCII, the origin has to suffice.
        return value.contains(#"username="\#(quoted)""#) || value.contains("userhash=true")
            || value.contains("username*=")
    }
}
