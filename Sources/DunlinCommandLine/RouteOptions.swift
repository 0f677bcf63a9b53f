package import Dunlin
internal import DunlinSemantics

/// The options for proxies and for allowed addresses.
package struct RouteOptions: Equatable, Sendable {
    /// The proxy; nil for the environment's.
    package var proxy: String?
    /// The hosts that are reached directly; nil for the environment's.
    package var exceptions: String?
    /// The certificates of authorities that are trusted for proxies, in addition to the system's.
    package var proxyAuthorities: [String] = []
    package var isGuarded = false
    /// The longest time for a connection, from the look-up of its name to the end of its handshake.
    package var connectLimit: Duration?
    package var addresses = HTTPSession.HostOverrides()
    package var socketPath: String?

    package init() {}

    package static let table: [Option<Self>] = [
        Option(
            "proxy", letter: "x", value: .text("URL"), help: "sends through this proxy, such as http://HOST:PORT",
            details: "The scheme may also be https, socks5 or socks5h, and USER:PASSWORD@ may stand before HOST. "
                + "An empty URL means no proxy. Without this option the environment's http_proxy, https_proxy, "
                + "all_proxy and no_proxy decide; other users can see a password in an argument, but not in the "
                + "environment."
        ) { $0.proxy = $1.value },
        Option(
            "noproxy", value: .text("LIST"), help: "hosts that are connected to directly",
            details: "The list is written as in no_proxy. Without --proxy it must be *, which means no proxy at all."
        ) { $0.exceptions = $1.value },
        Option(
            "proxy-cacert", "proxy-ca", value: .file("FILE"),
            help: "trusts this certificate authority for proxies, too"
        ) { $0.proxyAuthorities.append($1.value) },
        Option(
            "guard", value: .words(["public"]), help: "connects only to public addresses",
            details: "This holds whatever a name resolves to and wherever a redirect leads."
        ) { (options, given) throws(UsageError) in
            guard given.value == "public" else {
                throw UsageError(description: "--guard takes only the word public, not \"\(given.value)\"")
            }
            options.isGuarded = true
        },
        Option(
            "connect-timeout", value: .text("SECONDS"), help: "gives up on a connection after so long",
            details: "The look-up of the name, the connection and its handshake may each take so long."
        ) { (options, given) throws(UsageError) in options.connectLimit = try given.seconds },
        Option(
            "resolve", value: .text("HOST:PORT:ADDR"), help: "connects to this address for this host",
            details: "Host field and certificate are those of HOST. It may be given several times."
        ) { (options, given) throws(UsageError) in try options.addAddress(given.value) },
        Option(
            "unix-socket", value: .file("FILE"), help: "connects to this Unix socket, whatever the host"
        ) { (options, given) throws(UsageError) in options.socketPath = try given.text },
    ]

    private mutating func addAddress(_ text: String) throws(UsageError) {
        // The host may be an address in brackets, with colons of its own.
        let host = text.hasPrefix("[") ? text.prefix { $0 != "]" } + "]" : text.prefix { $0 != ":" }
        let rest = text.dropFirst(host.count + 1)
        let port = rest.prefix { $0 != ":" }
        let literal = rest.dropFirst(port.count + 1)
        let isInBrackets = literal.hasPrefix("[") && literal.hasSuffix("]")
        let bare = isInBrackets ? String(literal.dropFirst().dropLast()) : String(literal)
        guard !host.isEmpty, let number = UInt16(port), number > 0, let address = HostLiteral.parse(bare, port: 0)
        else {
            throw UsageError(
                description: "--resolve needs HOST:PORT:ADDRESS, such as a.test:443:127.0.0.1, not \"\(text)\"")
        }
        addresses["\(host.lowercased()):\(number)"] = address
    }

    package static let section = OptionSection("connect", title: "how it connects", table.map(\.text))

    /// Throws for options that do not fit together.
    package func check() throws(UsageError) {
        if proxy == nil, let exceptions, exceptions != "*" {
            throw UsageError(
                description: "--noproxy LIST needs --proxy; without --proxy it must be \"*\", for no proxy at all")
        }
    }

    /// Throws if a file is not there, before anything is done.
    package func checkFiles() throws(UsageError) {
        for path in proxyAuthorities { try InputFile.check(path) }
    }

    package func apply(to configuration: inout HTTPSession.Configuration) {
        if let proxy {
            // An empty name means no proxy, as in other commands.
            configuration.proxy = proxy.isEmpty ? .none : .url(proxy, except: exceptions ?? "")
        } else if exceptions != nil {
            configuration.proxy = .none
        }
        if !proxyAuthorities.isEmpty {
            configuration.proxyTLS.roots = .systemAnd(proxyAuthorities.map { .file($0) })
        }
        if isGuarded { configuration.guard = .publicInternet }
        if let connectLimit {
            configuration.timeouts.resolve = connectLimit
            configuration.timeouts.connect = connectLimit
            configuration.timeouts.tls = connectLimit
        }
        if !addresses.isEmpty { configuration.hostOverrides = addresses }
        if let socketPath { configuration.socketPath = socketPath }
    }
}
