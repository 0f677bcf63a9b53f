import Dunlin
import DunlinCommandLine
import Glibc

/// What a run takes from files before it sends, and what it stores when it has ended. Without the options for that it
/// reads and stores nothing.
struct KeptState {
    private let options: SessionOptions
    private let url: URLOrigin
    private let output: Output
    private let session: StoredSession?
    /// The ID that the session has after a login, and from the beginning if there was none.
    private let nextID = StoredSession.newID()
    private let login: LoginSource.Found?
    /// Whether the request is more than a GET, and so may be a login by a form.
    private let isMoreThanGET: Bool
    /// Whether nothing is sent, and so nothing stored.
    private let sendsNothing: Bool
    private let answersDigestAlone: Bool
    private let folder: SessionFolder?
    let jar: CookieJar?

    /// `login` is asked after the session was read; it may ask a person for a password. `sendsNothing` means that
    /// nothing is stored either.
    init(
        _ options: SessionOptions, for text: String, sendsNothing: Bool, _ output: Output, in own: SessionFolder? = nil,
        login: () throws -> GivenLogin
    ) throws {
        (self.options, self.output, self.sendsNothing) = (options, output, sendsNothing)
        url = try URLOrigin(of: text)
        if let name = options.name {
            let folder = try own ?? SessionFolder.own()
            (self.folder, session) = (folder, try folder.session(name))
        } else {
            (folder, session) = (nil, nil)
        }
        jar = options.needsJar ? try Self.jar(options, session, output) : nil
        let given = try login()
        (answersDigestAlone, isMoreThanGET) = (given.answersDigestAlone, given.isMoreThanGET)
        self.login = try LoginSource(given: given, options: options, url: url, session: session, output: output).found()
    }

    private static func jar(
        _ options: SessionOptions, _ session: StoredSession?, _ output: Output
    ) throws(UsageError) -> CookieJar {
        let jar = CookieJar()
        let isWanted = { (cookie: HTTP.Cookie) in !options.dropsUndated || cookie.expires != nil }
        if let session { _ = jar.adopt(session.cookies.filter(isWanted)) }
        for source in options.sources {
            let (file, title) = try CookieReading.file(source, mayBeMissing: options.target, output)
            let refused = jar.adopt(file.cookies.filter(isWanted)).count + file.wrongLines
            if refused > 0 {
                output.warn("\(title): \(refused) \(refused == 1 ? "line is" : "lines are") no cookie, and skipped")
            }
        }
        return jar
    }

    /// The cookies that a request to this URL is sent with, for a command that says all of it; nil for none.
    func cookieText(for url: String) throws -> String? {
        let texts = try jar?.cookies(for: url).map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" } ?? []
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// The user whose cookies are sent, so that the cache and part files of one user are used for no other: the login
    /// of the session, or what a cookie file says. Secret. Nil without either.
    ///
    /// What follows a login in one run is the new user's already.
    private var userID: String? {
        if let name = options.name { return "session \(name) \(isMoreThanGET ? nextID : session?.id ?? nextID)" }
        let cookies = jar?.cookies.map { "\($0.domain) \($0.path) \($0.name)=\($0.value)" } ?? []
        if cookies.isEmpty { return nil }
        return "cookies " + cookies.map { "\($0.utf8.count):\($0)" }.joined()
    }

    /// The URL to send to: without the user whom it names, if that user's password was found, which the session sends.
    func sent(_ text: String) -> String {
        if case .stored = login { url.withoutUser } else { text }
    }

    /// Has a session of the client send what was found, each to whom it is for.
    func apply(to configuration: inout HTTPSession.Configuration) {
        configuration.cookies = jar
        configuration.userID = userID
        let credentials: SessionCredentials
        switch login {
        case nil, .inRequest: return
        case .given(let found), .stored(let found): credentials = found
        }
        credentials.apply(to: &configuration, for: url.origin)
        configuration.basicInClearText = .allowed
        guard case .password = credentials, url.origin.scheme == .http, !answersDigestAlone, !sendsNothing else {
            return
        }
        output.warn(
            "over http the password can be read on its way if the server asks for Basic; --digest never answers Basic")
    }
}

// MARK: - Storing

extension KeptState {
    /// Stores what is to be kept. Returns the code, or that of a failure if something could not be stored.
    func store(after code: Result<ExitCode, any Error>) async throws -> ExitCode {
        guard !sendsNothing, let jar else { return try code.get() }
        let cookies = jar.snapshot(includingSessionCookies: true).cookies
        let isAccepted = if case .success(.success) = code { true } else { false }
        let isStored = storeSession(cookies, isAccepted)
        let isWritten = await writeFile(cookies)
        let wanted = try code.get()
        return isStored && isWritten ? wanted : .failure
    }

    private func storeSession(_ cookies: [HTTP.Cookie], _ isAccepted: Bool) -> Bool {
        guard let name = options.name, let folder, !options.isReadOnly else { return true }
        let changes = SessionChanges(
            from: session?.cookies ?? [], to: cookies, credentials: newCredentials(name, isAccepted),
            loginID: mayBeLogin ? nextID : nil)
        if changes.isEmpty { return true }
        do throws(UsageError) {
            try folder.update(name) {
                changes.applied(to: $0 ?? StoredSession(id: nextID, origin: url.origin), from: url.origin)
            }
            return true
        } catch {
            output.complain(error.description)
            return false
        }
    }

    /// Whether the cookies that this run brings may be another user's. A GET without other credentials is sent as the
    /// user of before, and servers renew cookies with any answer.
    private var mayBeLogin: Bool {
        switch login {
        case .given(let found), .inRequest(let found): isMoreThanGET || found != session?.credentials
        case nil, .stored: isMoreThanGET || url.namesUser
        }
    }

    /// The credentials of the arguments that are to be kept; nil for none, or those that are kept.
    private func newCredentials(_ name: SessionName, _ isAccepted: Bool) -> SessionCredentials? {
        let credentials: SessionCredentials
        switch login {
        case nil, .stored: return nil
        case .given(let found), .inRequest(let found): credentials = found
        }
        if let origin = session?.origin, !origin.isSame(as: url.origin) {
            output.warn("the session \(name) is for \(origin): the credentials for \(url.origin) are not kept")
            return nil
        }
        if session?.credentials == credentials { return nil }
        if !isAccepted {
            output.warn("the session \(name) does not keep the credentials, as no server has accepted them")
            return nil
        }
        return credentials
    }

    private func writeFile(_ cookies: [HTTP.Cookie]) async -> Bool {
        guard let target = options.target else { return true }
        let (text, leftOut) = CookieFile.written(cookies)
        if leftOut > 0 {
            let subject = leftOut == 1 ? "1 cookie has" : "\(leftOut) cookies have"
            output.warn(
                "\(subject) characters that a cookie file cannot hold, and \(leftOut == 1 ? "is" : "are") left out")
        }
        switch target {
        case .output: output.write(Bytes(text))
        case .file(let path):
            switch OutputTarget(path) {
            case .stream(let path):
                let write = { (output: Output) in
                    output.write(Bytes(text))
                    return ExitCode.success
                }
                do { return try await OutputTarget.writing(to: path, output, write) == .success } catch { return false }
            case .file(let path):
                let temporary = "\(path).\(UInt64.random(in: 0...UInt64.max)).new"
                guard let problem = FileBytes.replace(path, with: text.utf8, by: temporary) else { return true }
                output.complain("the cookie file \(path) cannot be written: \(problem)")
                return false
            }
        }
        return true
    }
}
