internal import DunlinSemantics
internal import DunlinTransport
public import FoundationEssentials

extension HTTPSession {
    /// Which proxy requests go through.
    ///
    /// ```swift
    /// configuration.proxy = .url("http://proxy.corp.test:3128")
    /// ```
    ///
    /// Requests for https go through a tunnel (CONNECT, or SOCKS), in which nobody reads; requests for http go to an
    /// HTTP proxy as they are, for the proxy to read and forward. The schemes of a proxy's URL are `http`, `https` (the
    /// proxy is spoken to over TLS, as `configuration.proxyTLS` says), `socks5` (names are resolved here) and `socks5h`
    /// (by the proxy). User name and password stand in the URL; they are sent
    /// to that proxy alone, and no description shows them. A connection is never shared by requests that go through
    /// different proxies, or with different credentials.
    public struct Proxy: Sendable {
        enum Choice: Sendable {
            case environment
            case direct
            case url(String, exceptions: String, connectFields: Fields)
            case chooser(@Sendable (_ url: URL) -> Proxy)
        }

        let choice: Choice

        /// As the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, read once when the session is
        /// made, and for a request's own proxy when its option is set; those in capitals count where there are none in
        /// lower case. Loopback addresses and `localhost` are never asked through such a proxy, nor what has an
        /// address of its own (`hostOverrides`, `socketPath`). `HTTP_PROXY` does not count in a CGI script, whose
        /// caller can set it. A value that cannot be used is an error that names the variable.
        public static let environment = Proxy(choice: .environment)
        /// Straight to the origin.
        public static let none = Proxy(choice: .direct)

        /// One proxy for all requests but those to the hosts in `exceptions`, which is written as `no_proxy` is:
        /// `localhost, .corp.test, 10.0.0.0/8`.
        ///
        /// `connectFields` are what an HTTP proxy is told beside host and port when it is asked for a tunnel; nothing
        /// else is, of the request's own. A request that the proxy reads has its own fields.
        public static func url(
            _ url: String, except exceptions: String = "", connectFields: Fields = Fields()
        ) -> Proxy {
            Proxy(choice: .url(url, exceptions: exceptions, connectFields: connectFields))
        }

        /// Asks a closure once for each exchange: redirects and retries too. An answer to a challenge may go the way
        /// that was chosen for what it answers. It is called on a loop, so it must not block, and should not make up
        /// new credentials each time. `url` is what is asked for, without user info.
        public static func by(_ choose: @escaping @Sendable (_ url: URL) -> Proxy) -> Proxy {
            Proxy(choice: .chooser(choose))
        }
    }
}

extension HTTPSession.PerRequest<HTTPSession.Proxy> {
    public static var environment: Self { .value(.environment) }
    public static func url(_ url: String, except exceptions: String = "", connectFields: Fields = Fields()) -> Self {
        .value(.url(url, except: exceptions, connectFields: connectFields))
    }
}

extension HTTPSession.Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without user info.
    public var description: String {
        switch choice {
        case .environment: "the environment's proxy"
        case .direct: "no proxy"
        case .chooser: "a proxy chosen for each request"
        case .url(let url, _, _): Self.shown(url) ?? "a proxy whose URL cannot be used"
        }
    }
    /// A proxy's URL without user info; nil for one that cannot be used.
    static func shown(_ url: String) -> String? {
        do throws(ProxyAddressError) { return try ProxyAddress(url).description } catch { return nil }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }
}
