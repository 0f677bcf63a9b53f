internal import DunlinSemantics
internal import DunlinTransport
internal import DunlinWire
internal import FoundationEssentials

extension HTTPSession.Proxy {
    /// The chooser for a session's or request's proxy setting, after checking it; nil for the direct way.
    ///
    /// `variables` are read only if they apply.
    func chooser(
        _ variables: @autoclosure () -> [String: String], _ code: NetworkError.Code
    ) throws -> ConnectionRules.ProxyChooser? {
        switch choice {
        case .direct: return nil
        case .environment: return try Self.environment(variables(), code)
        case .url(let text, let exceptions, let connectFields):
            var (proxy, exceptions) = try Self.parsed(text, exceptions, code)
            proxy.connectFields = try Self.checked(connectFields, for: proxy, code)
            let (chosen, direct) = (proxy, exceptions)
            return { head in
                let origin = head.origin
                if direct.cover(host: origin.host, port: origin.port) { return .direct }
                try Self.check(origin, chosen)
                return .proxy(chosen)
            }
        case .chooser(let choose):
            let variables = variables()
            return { head in
                let text = "\(head.origin)\(head.target.utf8.first == UInt8(ascii: "/") ? head.target : "")"
                guard let url = URL(string: text) else {
                    // Going direct would not be the way that was asked for.
                    throw NetworkError(
                        .invalidRequest,
                        "proxy: \(WebAddress.named(text)) cannot be given to the closure: it is not a valid `URL`",
                        isSafeToRetry: true)
                }
                let chosen = choose(url)
                if case .chooser = chosen.choice {
                    throw NetworkError(.invalidConfiguration, "proxy: a closure may not return another closure")
                }
                return try chosen.chooser(variables, .invalidConfiguration)?(head) ?? .direct
            }
        }
    }

    /// The way for a command, from the result of `chooser`.
    func use(_ chooser: ConnectionRules.ProxyChooser?) -> CurlSettings.ProxyUse {
        if let chooser { return .chosen(chooser) }
        if case .direct = choice { return .direct }
        return .unsaid
    }

    private static func environment(
        _ variables: [String: String], _ code: NetworkError.Code
    ) throws -> ConnectionRules.ProxyChooser? {
        let environment: ProxyEnvironment?
        do throws(ProxyEnvironmentError) {
            environment = try ProxyEnvironment.of(variables)
        } catch {
            throw NetworkError(code, "\(error)", underlying: error)
        }
        guard let environment else { return nil }
        return { head in
            let origin = head.origin
            if origin.route?.address != nil { return .direct }
            return environment.choice(for: origin.scheme, host: origin.host, port: origin.port)
        }
    }

    private static func parsed(
        _ text: String, _ exceptions: String, _ code: NetworkError.Code
    ) throws -> (ProxyAddress, ProxyExceptions) {
        do {
            return (try ProxyAddress(text), try ProxyExceptions(exceptions))
        } catch let error as ProxyAddressError {
            throw NetworkError(code, "proxy: \(error)", underlying: error)
        } catch let error as ProxyExceptionsError {
            throw NetworkError(code, "proxy: the list of exceptions is invalid: \(error)", underlying: error)
        }
    }

    /// The fields for CONNECT, checked: what CONNECT or the URL itself determines may not be among them.
    private static func checked(
        _ fields: Fields, for proxy: ProxyAddress, _ code: NetworkError.Code
    ) throws -> Fields {
        if fields.isEmpty { return fields }
        if proxy.scheme.isSOCKS { throw NetworkError(code, "proxy: `connectFields` cannot be sent to a SOCKS proxy") }
        let own = [
            "host", "proxy-authorization", "proxy-connection", "content-length", "transfer-encoding", "connection",
            "keep-alive", "te", "trailer", "upgrade", "expect",
        ]
        if let name = own.first(where: { fields.contains($0) }) {
            throw NetworkError(
                code,
                "proxy: leave \(name) out of `connectFields`; Dunlin itself writes the fields of a CONNECT request "
                    + "that are about the connection or the credentials")
        }
        var fields = fields
        fields.mark(.usual)
        do throws(WireError) {
            _ = try RequestEncoder.prepare(fields)
        } catch {
            throw NetworkError(code, "proxy: `connectFields` cannot be sent", underlying: error)
        }
        return fields
    }

    /// Throws for an origin with an address of its own and a proxy that resolves names.
    private static func check(_ origin: HTTP.Origin, _ proxy: ProxyAddress) throws {
        guard let address = origin.route?.address else { return }
        let isSocket = origin.socketPath != nil
        guard proxy.scheme.resolvesNames || isSocket else { return }
        let problem = isSocket ? "cannot connect to Unix sockets" : "looks names up itself"
        let remedy = "add \(origin.host) to the proxy's exceptions (`except:`)" + (isSocket ? "" : ", or use socks5://")
        throw NetworkError(
            .invalidConfiguration,
            "`hostOverrides` or `socketPath` gives \(origin) the address \(address), but the proxy \(proxy) "
                + "\(problem); \(remedy)"
        )
    }
}
