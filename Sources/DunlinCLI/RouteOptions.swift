import Dunlin
import DunlinCommandLine

/// Which way the command's requests take: through which proxy, and to which addresses at all.
struct RouteOptions: Equatable {
    /// Nil for what the environment says.
    var proxy: String?
    /// The hosts that go straight; nil for what the environment says.
    var exceptions: String?
    /// Authorities' certificates that proxies are believed by, as well as the system's.
    var proxyAuthorities: [String] = []
    var isGuarded = false

    /// Takes an option and its value from the arguments; false if it is none of these.
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

    /// What makes no sense together.
    func check() throws(UsageError) {
        if proxy == nil, let exceptions, exceptions != "*" {
            throw UsageError(
                description: "--noproxy LIST needs --proxy; without --proxy it must be \"*\", for no proxy at all")
        }
    }

    func apply(to configuration: inout HTTPSession.Configuration) {
        if let proxy {
            // An empty name is what other commands take for no proxy.
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
