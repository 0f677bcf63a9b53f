internal import DunlinSemantics

extension HTTPSession {
    /// A user name and a password for answering challenges.
    struct Password: Sendable, CustomReflectable {
        let user: String
        let password: String
        var answersBasic = true

        /// Whether it is this user and password, byte for byte and regardless of other settings.
        func isOf(user: String, password: String) -> Bool {
            self.user.hasSameBytes(as: user) && self.password.hasSameBytes(as: password)
        }

        /// Throws for characters that no answer can carry.
        func check(_ code: NetworkError.Code) throws {
            do throws(Authorization.Problem) {
                try Authorization.check(user: user, password: password)
            } catch {
                throw NetworkError(code, "the credentials cannot be sent", underlying: error)
            }
        }

        var login: CurlSettings.Login? {
            CurlSettings.Login(user: user, password: password, answersBasic: answersBasic)
        }

        /// Shows nothing secret.
        var customMirror: Mirror { Mirror(self, children: []) }
    }
}

extension HTTPSession.Password {
    /// Creates a password; nil for credentials that are sent unasked.
    init?(_ credentials: HTTP.Credentials) {
        switch credentials {
        case .password(let user, let password): self.init(user: user, password: password)
        case .digest(let user, let password): self.init(user: user, password: password, answersBasic: false)
        case .basic, .bearer: return nil
        }
    }

    init(_ info: WebAddress.UserInfo) {
        self.init(user: info.user, password: info.password ?? "")
    }
}

extension HTTPSession.Password: Hashable {
    /// Compares byte for byte: texts that Unicode considers equal are different passwords to a server.
    static func == (left: Self, right: Self) -> Bool {
        left.answersBasic == right.answersBasic
            && left.isOf(user: right.user, password: right.password)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: user)
        hasher.combine(bytesOf: password)
    }
}

/// A password for one origin only.
struct OriginPassword: Sendable {
    let origin: HTTP.Origin
    let password: HTTPSession.Password
}
