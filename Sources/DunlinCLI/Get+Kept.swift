import Dunlin
import DunlinCommandLine

/// How a request goes together with what is kept in files.
extension Get {
    /// What this run takes from files, and stores at its end.
    func kept() throws -> KeptState {
        let request = options.request
        return try KeptState(options.kept, for: url, sendsNothing: request.sendsNothing, output, in: sessions) {
            try request.givenLogin()
        }
    }
}

extension RequestOptions {
    /// The same with its token in memory: it may be read only once, and is sent and kept.
    func readingBearer() throws -> RequestOptions {
        guard let bearer else { return self }
        var request = self
        request.bearer = .text(try Self.token(of: bearer))
        return request
    }

    fileprivate func givenLogin() throws -> GivenLogin {
        var login = GivenLogin(answersDigestAlone: answersDigestAlone)
        let hasBody = upload != nil || !form.isEmpty || !data.isEmpty && !putsDataInURL
        login.isMoreThanGET = hasBody || ![.get, .head].contains(httpMethod)
        switch try credentials() {
        case nil: break
        case .password(let user, let password), .basic(let user, let password):
            login.user = .password(user: user, password: password)
        case .digest(let user, let password): login.user = .digest(user: user, password: password)
        case .bearer(let token): login.user = .bearer(token)
        }
        if case .text(let token) = bearer {
            login.inRequest = .bearer(token)
        } else if let value = fields["authorization"] {
            login.inRequest = .field(value)
        }
        return login
    }

    /// Adds cookies to the one Cookie field of the request.
    mutating func addCookies(_ text: String?) throws(UsageError) {
        guard let text else { return }
        try append("Cookie", text)
    }

    /// Throws for options that do not fit those of sessions and files.
    func check(with kept: SessionOptions) throws(UsageError) {
        let isRead =
            data.contains(where: \.isInput) || form.contains(where: \.isInput) || bearer == .input || upload == .input
        if kept.inputs > 1 || (kept.inputs == 1 && isRead) {
            throw UsageError(description: "standard input can be read once; -b - reads it, too")
        }
        if answersDigestAlone, user == nil, kept.netrc == nil, kept.name == nil {
            throw UsageError(description: "--digest needs --user NAME:PASSWORD as well")
        }
    }
}
