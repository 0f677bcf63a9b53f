internal import DunlinSemantics

/// The routes that differ from the usual one, by origin. Created once for a session, and for each request with its own
/// routes.
final class Routes: Sendable {
    private struct Endpoint: Hashable {
        var host: String
        var port: UInt16?
    }

    private let addresses: [Endpoint: HTTP.SocketAddress]
    /// The address for all other hosts.
    private let fallback: HTTP.SocketAddress?
    /// The session's base and its route, kept because most requests go there.
    private let base: (origin: HTTP.Origin, routed: HTTP.Origin)?

    /// The routes of a configuration; nil if there are none.
    static func of(_ configuration: HTTPSession.Configuration, base: HTTP.Origin?) throws -> Routes? {
        if configuration.hostOverrides.isEmpty, configuration.socketPath == nil { return nil }
        return try Routes(
            configuration.hostOverrides, fallback: configuration.socketPath.map { .unix($0) }, base: base,
            .invalidConfiguration)
    }

    /// Creates routes. An invalid host as a key throws an error with `code`.
    init(
        _ overrides: HTTPSession.HostOverrides, fallback: HTTP.SocketAddress? = nil, base: HTTP.Origin? = nil,
        _ code: NetworkError.Code
    ) throws {
        var addresses: [Endpoint: HTTP.SocketAddress] = [:]
        for (key, address) in overrides.entries { addresses[try Self.endpoint(key, code)] = address }
        self.addresses = addresses
        self.fallback = fallback
        self.base = base.map { ($0, $0.connecting(to: Self.address(for: $0, in: addresses) ?? fallback)) }
    }

    func routed(_ origin: HTTP.Origin) -> HTTP.Origin {
        if let base, origin == base.origin { return base.routed }
        return origin.connecting(to: address(for: origin) ?? fallback)
    }

    func address(for origin: HTTP.Origin) -> HTTP.SocketAddress? { Self.address(for: origin, in: addresses) }

    private static func address(for origin: HTTP.Origin, in addresses: [Endpoint: HTTP.SocketAddress]) -> HTTP
        .SocketAddress?
    {
        addresses[Endpoint(host: origin.host, port: origin.port)] ?? addresses[Endpoint(host: origin.host)]
    }

    private static func endpoint(_ key: String, _ code: NetworkError.Code) throws -> Endpoint {
        do throws(AddressError) {
            let address = try WebAddress("http://\(key)")
            // A key without a port stands for the default port of each scheme.
            let other = try WebAddress("https://\(key)").origin
            let hasPort = address.origin.port == other.port
            if address.target == "/", address.userInfo == nil, address.fragment == nil, !key.hasSuffix("/") {
                return Endpoint(host: address.origin.host, port: hasPort ? other.port : nil)
            }
        } catch {
            throw NetworkError(code, unusable(key), underlying: error)
        }
        throw NetworkError(code, unusable(key))
    }

    private static func unusable(_ key: String) -> String {
        "hostOverrides: \"\(VisibleText.of(key, upTo: 100))\" is neither a host nor a host and a port, such as "
            + "example.com or example.com:8443"
    }
}

extension HTTP.Origin {
    fileprivate func connecting(to address: HTTP.SocketAddress?) -> HTTP.Origin {
        address.map { over(HTTP.Route(address: $0)) } ?? self
    }
}
