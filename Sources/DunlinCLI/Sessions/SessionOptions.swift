import DunlinCommandLine

/// The options for what is kept in files: cookies, sessions and logins.
struct SessionOptions: Equatable, Sendable {
    enum CookieSource: Equatable, Sendable {
        case file(String)
        case input
    }

    enum CookieTarget: Equatable, Sendable {
        case file(String)
        case output
    }

    enum Netrc: Equatable, Sendable {
        /// `~/.netrc`.
        case own
        case file(String)
    }

    var name: SessionName?
    /// Whether the session's file is never written.
    var isReadOnly = false
    /// Whether cookies are taken from responses and sent with the next request.
    var usesCookies = false
    /// Cookies that are given by hand, as they stand in the field.
    var cookieText: String?
    var sources: [CookieSource] = []
    var target: CookieTarget?
    /// Whether cookies without an expiry are left in their files.
    var dropsUndated = false
    var netrc: Netrc?

    /// Whether anything needs a jar.
    var needsJar: Bool { usesCookies || name != nil || !sources.isEmpty || target != nil }
}

// MARK: - The table

extension SessionOptions {
    static let section = OptionSection(
        "cookies", title: "cookies, sessions and logins from files", table.map(\.text))

    static let table: [Option<Self>] = cookies + sessions + logins

    private static let cookies: [Option<Self>] = [
        Option(
            "cookie", letter: "b", value: .file("NAME=VALUE|FILE"), help: "sends these cookies, or those of a file",
            details: "Several in one text are separated by semicolons; they go to the origin of the URL, and after a "
                + "redirect to no other. A text without an equals sign is a cookie file, of which each cookie goes "
                + "where its line says; - is standard input. An empty text only has the command take cookies from "
                + "responses and send them after redirects."
        ) { $0.addCookies($1.value) },
        Option(
            "cookie-jar", letter: "c", value: .file("FILE"), help: "writes all cookies to a file at the end",
            details: "It has the cookies of -b FILE and those of the responses. FILE - is standard output."
        ) { (options, given) throws(UsageError) in
            options.target = try given.text == "-" ? .output : .file(given.value)
        },
        Option(
            "junk-session-cookies", letter: "j", help: "takes no cookies without an expiry from files",
            sets: \.dropsUndated),
    ]

    private static let sessions: [Option<Self>] = [
        Option(
            "session", value: .text("NAME"), help: "keeps cookies and credentials for the next run",
            details: "Cookies go where their servers allow. Credentials are those of -u, --bearer or an Authorization "
                + "field, once the server has answered with success; they go to the origin of the first URL only. "
                + "Nothing else of a request is kept. What is given in the arguments wins. What --cache stores and -C "
                + "continues is for one login: the next begins when a form or other credentials change what is kept."
        ) { (options, given) throws(UsageError) in try options.choose(given, isReadOnly: false) },
        Option(
            "session-read-only", value: .text("NAME"), help: "the same, but stores nothing"
        ) { (options, given) throws(UsageError) in try options.choose(given, isReadOnly: true) },
    ]

    private static let logins: [Option<Self>] = [
        Option(
            OptionText(
                ["netrc"], letter: "n", help: "takes name and password for the URL's host from ~/.netrc",
                details: "They are used like those of -u, which wins. If the URL names a user without a password, as "
                    + "in http://ada@host/, that user's is taken. The host must be the one of an entry exactly; an "
                    + "entry default is not used, as it would give the password to any host.")
        ) { options, _ in if options.netrc == nil { options.netrc = .own } },
        Option(
            "netrc-file", value: .file("FILE"), help: "the same, from this file"
        ) { (options, given) throws(UsageError) in options.netrc = .file(try given.text) },
    ]
}

// MARK: - From the arguments

extension SessionOptions {
    private mutating func addCookies(_ text: String) {
        if text.isEmpty {
            usesCookies = true
        } else if text.contains("=") {
            cookieText = (cookieText.map { "\($0); " } ?? "") + text
        } else {
            sources.append(text == "-" ? .input : .file(text))
        }
    }

    private mutating func choose(_ given: GivenOption, isReadOnly: Bool) throws(UsageError) {
        if name != nil { throw UsageError(description: "a request has one session; \(given.spelling) is another") }
        (name, self.isReadOnly) = (try SessionName(given.value), isReadOnly)
    }

    /// How often standard input is read.
    var inputs: Int { sources.filter { $0 == .input }.count }

    /// Throws for options that do not fit together.
    func check() throws(UsageError) {
        if dropsUndated, sources.isEmpty, name == nil {
            throw UsageError(description: "-j needs -b FILE or --session as well")
        }
    }
}
