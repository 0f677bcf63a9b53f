package import Dunlin

/// The options for proxies and for allowed addresses.
package struct RouteOptions: Equatable, Sendable {
    /// The proxy; nil for the environment's.
    package var proxy: String?
    /// The hosts that are reached directly; nil for the environment's.
    package var exceptions: String?
    /// The certificates of authorities that are trusted for proxies, in addition to the system's.
    package var proxyAuthorities: [String] = []
    package var isGuarded = false

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
    ]

    package static let section = OptionSection("connect", title: "how it connects", table.map(\.text))

    /// Throws for options that do not fit together.
    package func check() throws(UsageError) {
        if proxy == nil, let exceptions, exceptions != "*" {
            throw UsageError(
                description: "--noproxy LIST needs --proxy; without --proxy it must be \"*\", for no proxy at all")
        }
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
    }
}
