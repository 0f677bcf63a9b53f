internal import DunlinSemantics
internal import DunlinTransport
public import FoundationEssentials

extension HTTPSession {
    /// The proxy that requests go through.
    ///
    /// ```swift
    /// configuration.proxy = .url("http://proxy.corp.test:3128")
    /// ```
    ///
    /// Requests for https go through a tunnel (CONNECT or SOCKS), which the proxy cannot read; requests for http are
    /// read and forwarded by an HTTP proxy. The schemes of a proxy's URL are `http`, `https` (the connection to the
    /// proxy uses TLS by `configuration.proxyTLS`), `socks5` (Dunlin resolves names) and `socks5h` (the proxy does).
    /// User name and password are part of the URL; they are sent only to that proxy, and no description shows them.
    /// Requests with different proxies or different proxy credentials never share a connection.
    public struct Proxy: Sendable {
        enum Choice: Sendable {
            case environment
            case direct
            case url(String, exceptions: String, connectFields: Fields)
            case chooser(@Sendable (_ url: URL) -> Proxy)
        }

        let choice: Choice

        /// The proxy that the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name. They are read
        /// once when the session is created, or when a request's option is set; upper-case variables apply if the
        /// lower-case ones are missing. Loopback addresses, `localhost`, and hosts with an address of their own
        /// (`hostOverrides`, `socketPath`) never go through such a proxy. `HTTP_PROXY` is ignored in CGI scripts, whose
        /// caller can set it. An unusable value is an error that names the variable.
        public static let environment = Proxy(choice: .environment)
        /// No proxy: directly to the origin.
        public static let none = Proxy(choice: .direct)

        /// One proxy for all requests except those to the hosts in `exceptions`, which is written like `no_proxy`:
        /// `localhost, .corp.test, 10.0.0.0/8`.
        ///
        /// `connectFields` are sent to an HTTP proxy with host and port when it is asked for a tunnel; none of the
        /// request's own fields are. A request that the proxy reads has its own fields.
        public static func url(
            _ url: String, except exceptions: String = "", connectFields: Fields = Fields()
        ) -> Proxy {
            Proxy(choice: .url(url, exceptions: exceptions, connectFields: connectFields))
        }

        /// The proxy that a closure chooses, once for each exchange, including redirects and retries. The answer to a
        /// challenge may go the way that was chosen for the request that it answers. The closure is called on a loop,
        /// so it must not block, and should not create new credentials each time. `url` is the requested URL, without
        /// user info.
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
    /// The proxy's URL without user info.
    public var description: String {
        switch choice {
        case .environment: "the environment's proxy"
        case .direct: "no proxy"
        case .chooser: "a proxy chosen for each request"
        case .url(let url, _, _): Self.shown(url) ?? "a proxy whose URL cannot be used"
        }
    }
    /// A proxy's URL without user info; nil for an unusable one.
    static func shown(_ url: String) -> String? {
        do throws(ProxyAddressError) { return try ProxyAddress(url).description } catch { return nil }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }
}
