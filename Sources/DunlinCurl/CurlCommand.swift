internal import DunlinRules
internal import DunlinSemantics
internal import DunlinTypes

/// Writes a request as a command for a POSIX shell, with options that `curl` has had since 7.68 (2020).
///
/// Rules:
/// 1. The command sends the same method, target, fields and body over HTTP/1.1. What `curl` adds by itself
///    (`User-Agent`, `Accept`, a content type) is removed if the request does not have it.
/// 2. Settings that affect the result become options: time limits, redirects, codings, where to connect, whom to trust.
///    `--insecure` is used only if the session trusts everybody.
/// 3. What a command cannot express is written below it as comment lines.
/// 4. It does not follow redirects if `curl` would do more than the session: repeat a method or body regardless of the
///    status, or send a secret field to another origin.
/// 5. It contains a password only if that is this request's.
/// 6. It is safe in a terminal, whatever the request contains: see `ShellText`.
/// 7. Without `showingSecrets`, it contains no secrets, and no body, which may have some.
struct CurlCommand {
    private let record: RequestRecord
    private let showsSecrets: Bool
    private var words = ["curl"]
    private var notes: [String] = []
    /// The command whose output is the body.
    private var input: String?

    init(_ record: RequestRecord, showingSecrets: Bool) {
        self.record = record
        showsSecrets = showingSecrets
        addMethod()
        addTarget()
        words.append("--http1.1")
        addFields()
        if let login { addLogin(login) }
        addBody()
        addLimits()
        addRoute()
        addProxy()
        if head.origin.scheme == .https { addTLS() }
    }

    var text: String {
        let command = (input.map { [$0, "|"] } ?? []) + words
        return ([command.joined(separator: " ")] + notes.map { "# \($0)" }).joined(separator: "\n")
    }

    private var head: RequestHead { record.head }
    private var settings: CurlSettings { record.settings }
    private var secret: HTTP.SecretFields { settings.secretFields }

    /// Whether an option gives the body, which makes the method POST. With HEAD this is impossible.
    private var hasData: Bool {
        if head.method == .head { return false }
        if case .none = record.body { return ["POST", "PUT", "PATCH"].contains(head.method.rawValue) }
        return true
    }

    private mutating func add(_ option: String, _ value: String) {
        words += [option, ShellText.quoted(value)]
    }

    /// The text on one line and safe for a terminal, for everything but bodies.
    private func line(_ text: String) -> String { VisibleText.of(text, upTo: .max) }
}

// MARK: - The head

extension CurlCommand {
    private mutating func addMethod() {
        if head.method == .head { words.append("--head") }
        if namesMethod { add("-X", line(head.method.rawValue)) }
    }

    /// Whether the method must be named, since `curl` would use another one.
    private var namesMethod: Bool {
        switch head.method {
        case .get: hasData
        case .post, .head: false
        default: true
        }
    }

    private mutating func addTarget() {
        let isPath = head.target.hasPrefix("/")
        let url = head.origin.description + (isPath ? head.target : "/")
        words.append(ShellText.quoted(line(showsSecrets ? url : WebAddress.named(url, hiding: secret))))
        if !isPath { add("--request-target", line(head.target)) }
        // Otherwise these characters stand for many URLs, and dots are removed.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
        if url.contains("/.") { words.append("--path-as-is") }
    }

    /// Who answers this origin's challenges; nil if the request names its own user.
    private var login: CurlSettings.Login? {
        guard let login = settings.login, login.origin?.isSame(as: head.origin) == true else { return nil }
        guard let sent = head.fields["authorization"] else { return login }
        return login.hasMade(sent) ? login : nil
    }

    /// Whether the request carried an answer that can be used only once.
    private var hasSpentAnswer: Bool {
        head.fields["authorization"]?.lowercased().hasPrefix("digest ") == true
    }

    /// Adds the user. An answer that was sent is valid for one request, so this one gets its own.
    private mutating func addLogin(_ login: CurlSettings.Login) {
        if hasColon(login.user) { return }
        let mayBeBasic = login.answersBasic && (head.origin.scheme == .https || settings.allowsBasicInClearText)
        words.append(mayBeBasic ? "--anyauth" : "--digest")
        add("--user", "\(line(login.user))\(showsSecrets ? ":" + login.password : "")")
        if !showsSecrets { notes.append("curl will ask for the password.") }
    }

    /// Whether a user name contains a colon, which would end it in an option. Adds a remark that it must be given in
    /// another way; a password is not added.
    private mutating func hasColon(_ user: String, ofProxy isProxy: Bool = false) -> Bool {
        guard user.utf8.contains(UInt8(ascii: ":")) else { return false }
        let (option, url) = isProxy ? ("--proxy-user", "the proxy's URL") : ("--user", "the URL")
        notes.append("curl's \(option) cannot hold a user name with a colon; write it into \(url), with %3A.")
        return true
    }

    private mutating func addFields() {
        var fields = head.fields
        if login != nil || hasSpentAnswer { fields.remove("authorization") }
        if login == nil, hasSpentAnswer {
            notes.append("The answer to the server's challenge is left out: it was good for one request.")
        }
        let shown = showsSecrets ? fields.map { ($0.name, line($0.value)) } : fields.shown(hiding: secret)
        for (name, value) in shown where name.lowercased() != "content-length" {
            // An empty value is written with a semicolon, because a colon without a value removes the field.
            add("-H", value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        for name in ["User-Agent", "Accept"] where !fields.contains(name) { add("-H", "\(name):") }
        if hasData, !fields.contains("content-type") { add("-H", "Content-Type:") }
        if settings.decodes, fields.contains("accept-encoding") { words.append("--compressed") }
    }
}

// MARK: - The body

extension CurlCommand {
    private mutating func addBody() {
        if head.method == .head {
            if case .none = record.body { return }
            return notes.append("The request has a body, which curl does not send with HEAD.")
        }
        switch record.body {
        case .none: if hasData { add("--data-binary", "") }
        case .bytes(let bytes): addBytes(bytes)
        case .longBytes(let count): addLength(count)
        case .file(let file): addFile(file)
        case .stream(let length, let isReplayable):
            let size = length.map { " of \($0) bytes" } ?? ""
            let once = isReplayable ? "" : " that can be sent once"
            addInput("The body is a stream\(size)\(once): give it on standard input.")
        }
        if record.hasTrailers { notes.append("The body is followed by trailers, which curl cannot send.") }
    }

    private mutating func addBytes(_ bytes: Bytes) {
        if !showsSecrets, !bytes.isEmpty {
            addLength(bytes.count)
        } else if let text = ShellText.plain(bytes) {
            // Text that begins with @ would be taken for a file name.
            add(text.hasPrefix("@") ? "--data-raw" : "--data-binary", text)
        } else {
            input = ShellText.printing(bytes)
            words += ["--data-binary", "@-"]
        }
    }

    private mutating func addLength(_ count: Int) {
        addInput("The body, of length \(count), is not shown: give it on standard input.")
    }

    private mutating func addInput(_ note: String) {
        words += ["--data-binary", "@-"]
        notes.append(note)
        addNoExpectation()
    }

    private mutating func addFile(_ file: RequestBody.File) {
        let path = line(file.path)
        if let range = file.range {
            // A name that begins with a dash would be taken for an option.
            let name = ShellText.quoted(path.hasPrefix("-") ? "./\(path)" : path)
            input = "tail -c +\(range.lowerBound + 1) \(name) | head -c \(range.count)"
            words += ["--data-binary", "@-"]
        } else {
            add("--data-binary", path == "-" ? "@./-" : "@\(path)")
        }
        addNoExpectation()
    }

    /// Turns off that `curl` asks for consent before it sends a long body.
    private mutating func addNoExpectation() {
        if !head.fields.contains("expect") { add("-H", "Expect:") }
    }
}

// MARK: - What else decides

extension CurlCommand {
    private mutating func addLimits() {
        if let total = record.total { add("--max-time", Self.seconds(total)) }
        let redirects = settings.redirects
        guard redirects.follows else { return }
        if let danger = dangerOfRedirects {
            return notes.append("Redirects are followed by the session, and not by this command: curl would \(danger).")
        }
        words += ["--location", "--max-redirs", "\(redirects.limit)"]
        if head.origin.scheme == .https, !redirects.allowsHTTPSToHTTP { add("--proto-redir", "=https") }
    }

    /// What `curl` would do after a redirect that the session does not; nil for nothing.
    private var dangerOfRedirects: String? {
        if namesMethod || hasData { return "send the method or the body again whatever the status says" }
        let isSecretElsewhere = head.fields.contains { name, _ in
            // `curl` removes these two itself.
            !["authorization", "cookie"].contains(name.lowercased())
                && (secret.hidesField(name) || head.fields.isSensitive(name)
                    || settings.redirects.secretFields.contains(name))
        }
        return showsSecrets && isSecretElsewhere ? "give secret fields to other origins" : nil
    }

    /// The seconds with at most three decimals, and never zero, which would mean no limit.
    private static func seconds(_ duration: Duration) -> String {
        let thousandths = max(1, duration.clampedNanoseconds / 1_000_000)
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
        if rest == 0 { return "\(whole)" }
        var digits = String(String(1000 + rest).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }

    private mutating func addRoute() {
        let (origin, route) = (head.origin, head.origin.route)
        if let interface = route?.sockets?.interface ?? settings.interface { add("--interface", line(interface)) }
        switch route?.address {
        case nil: break
        case .unix(let path)?:
            let isAbstract = path.utf8.first == 0
            let name = line(isAbstract ? String(path.dropFirst()) : path)
            add(isAbstract ? "--abstract-unix-socket" : "--unix-socket", name)
        case .v4(_, let port)?, .v6(_, _, let port, _)?:
            guard let address = route?.address else { return }
            let literal = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
            let host = address.host.contains(":") ? "[\(address.host)]" : address.host
            if port == 0 || port == origin.port {
                add("--resolve", line("\(literal):\(origin.port):\(host)"))
            } else {
                add("--connect-to", line("\(literal):\(origin.port):\(host):\(port)"))
            }
        }
    }

    private mutating func addProxy() {
        switch settings.proxyUse {
        case .unsaid: break
        case .direct: add("--noproxy", "*")
        case .chosen(let choose):
            do {
                guard case .proxy(let proxy) = try choose(head) else { return add("--noproxy", "*") }
                add("--proxy", line("\(proxy)"))
                // So that the variables which exempt hosts do not apply.
                add("--noproxy", "")
                if head.origin.scheme == .https { addConnectFields(proxy.connectFields) }
                guard let credentials = proxy.credentials, !hasColon(credentials.user, ofProxy: true)
                else { return }
                if !proxy.scheme.isSOCKS { words.append("--proxy-anyauth") }
                add("--proxy-user", "\(line(credentials.user))\(showsSecrets ? ":" + credentials.password : "")")
                if !showsSecrets { notes.append("curl will ask for the proxy's password.") }
            } catch {
                notes.append("The session cannot say which proxy this goes through: \(line("\(error)"))")
            }
        }
    }

    /// Adds the proxy's fields that are sent only with CONNECT.
    private mutating func addConnectFields(_ fields: Fields) {
        let shown = showsSecrets ? fields.map { ($0.name, line($0.value)) } : fields.shown(hiding: secret)
        for (name, value) in shown { add("--proxy-header", value.isEmpty ? "\(name);" : "\(name): \(value)") }
    }

    private mutating func addTLS() {
        let trust = settings.trust
        if trust.believesAll { words.append("--insecure") }
        if case .some(.some(let path)) = trust.authorities.first { add("--cacert", line(path)) }
        if trust.authorities.count > 1 || trust.authorities.contains(nil) {
            notes.append("The session also trusts authorities that are not named here; add each with --cacert.")
        }
        if trust.isPinning { notes.append("The session's pins are not checked by this command.") }
        if let identity = trust.identity { addIdentity(identity) }
    }

    private mutating func addIdentity(_ identity: CurlSettings.Identity) {
        let unnamed = "The client certificate is in no file that could be named here; add --cert and --key."
        switch identity.form {
        case .pem(let certificates, let key):
            add("--cert", Self.certificatePath(line(certificates)))
            switch key {
            case .withCertificates: break
            case .file(let path): add("--key", line(path))
            case .unnamed: notes.append(unnamed)
            }
        case .pkcs12(let path):
            add("--cert", Self.certificatePath(line(path)))
            words += ["--cert-type", "P12"]
        case .unnamed: return notes.append(unnamed)
        }
        guard let passphrase = identity.passphrase else { return }
        if showsSecrets { add("--pass", passphrase) } else { notes.append("curl will ask for the key's passphrase.") }
    }

    /// The path of a certificate. A colon would begin the passphrase.
    private static func certificatePath(_ path: String) -> String {
        path.parts(at: UInt8(ascii: ":")).joined(separator: #"\:"#)
    }
}
