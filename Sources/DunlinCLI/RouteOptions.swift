import Dunlin
import DunlinCommandLine

/// The options for proxies and for allowed addresses.
struct RouteOptions: Equatable {
    /// The proxy; nil for the environment's.
    var proxy: String?
    /// The hosts that are reached directly; nil for the environment's.
    var exceptions: String?
    /// The certificates of authorities that are trusted for proxies, in addition to the system's.
    var proxyAuthorities: [String] = []
    var isGuarded = false

    /// Takes an option and its value from the arguments. Returns false for any other option.
    mutating func take(_ option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Bool {
        switch option {
        case "-x", "--proxy": proxy = try rest.takeValue(of: option)
        case "--noproxy": exceptions = try rest.takeValue(of: option)
        case "--proxy-ca": proxyAuthorities.append(try rest.takeValue(of: option))
        case "--guard":
            let name = try rest.takeValue(of: option)
            guard name == "public" else {
                throw UsageError(description: "--guard takes only the word public, not \"\(name)\"")
            }
            isGuarded = true
        default: return false
        }
        return true
    }

    /// Throws for options that do not fit together.
    func check() throws(UsageError) {
        if proxy == nil, let exceptions, exceptions != "*" {
            throw UsageError(
                description: "--noproxy LIST needs --proxy; without --proxy it must be \"*\", for no proxy at all")
        }
    }

    func apply(to configuration: inout HTTPSession.Configuration) {
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
