import Dunlin
import DunlinCommandLine
import FoundationEssentials

/// Finds out who asks, for the origin of the URL: the arguments win, then the URL, then the session, then netrc. For a
/// user whom the URL names without a password, netrc is asked for that user's, and the session is not.
struct LoginSource {
    let given: GivenLogin
    let options: SessionOptions
    let url: URLOrigin
    let session: StoredSession?
    let output: Output

    enum Found: Equatable {
        /// By --user, which the client's session sends.
        case given(SessionCredentials)
        /// By --bearer or a field, which the request has itself.
        case inRequest(SessionCredentials)
        /// By a session or netrc.
        case stored(SessionCredentials)
    }

    /// Nil if nothing says who asks, or the URL alone does.
    func found() throws(UsageError) -> Found? {
        if let credentials = given.user {
            if !url.namesUser { return .given(credentials) }
            throw UsageError(description: "credentials are given twice: by --user and in the URL; give one")
        }
        if let credentials = given.inRequest { return .inRequest(credentials) }
        if url.namesUser, url.userWithoutPassword == nil { return nil }
        if !url.namesUser, let credentials = storedInSession { return .stored(onlyDigestIfWanted(credentials)) }
        return try login().map { .stored(onlyDigestIfWanted($0)) }
    }

    private var storedInSession: SessionCredentials? {
        guard let session, let name = options.name, let credentials = session.credentials else { return nil }
        if session.origin.isSame(as: url.origin) { return credentials }
        output.warn(
            "the credentials of the session \(name) are for \(session.origin), and are not sent to \(url.origin)")
        return nil
    }

    private func onlyDigestIfWanted(_ credentials: SessionCredentials) -> SessionCredentials {
        if given.answersDigestAlone, case .password(let user, let password) = credentials {
            return .digest(user: user, password: password)
        }
        return credentials
    }

    // MARK: - netrc

    private func login() throws(UsageError) -> SessionCredentials? {
        guard let path = try netrcPath() else { return nil }
        let file = PrivateFile(path: path, title: "the netrc file", mayBeLink: true)
        guard let bytes = try file.read(upTo: NetrcFile.longest) else { throw file.error("is not there") }
        let logins: NetrcFile
        do throws(UsageError) { logins = try NetrcFile(bytes) } catch {
            throw file.error("cannot be understood: \(error.description)")
        }
        guard let login = logins.login(for: url.origin.host, user: url.userWithoutPassword) else {
            if logins.hasDefault {
                let whom = (url.userWithoutPassword == nil ? "" : "the URL's user at ") + url.origin.host
                output.warn("\(path) has no entry for \(whom), and its entry default is never used")
            }
            return nil
        }
        guard let user = login.name, !user.isEmpty, let password = login.password else {
            throw file.error("has no login and password for \(url.origin.host)")
        }
        return .password(user: user, password: password)
    }

    private func netrcPath() throws(UsageError) -> String? {
        switch options.netrc {
        case nil: return nil
        case .file(let path): return path
        case .own:
            guard let home = ProcessInfo.processInfo.environment["HOME"], !home.isEmpty else {
                throw UsageError(description: "-n reads ~/.netrc, and HOME is not set")
            }
            return home + "/.netrc"
        }
    }
}
