package import DunlinTypes

/// The proxies that the environment's variables name for origins.
///
/// Rules:
/// 1. `http_proxy` is for http, `https_proxy` for https, and `all_proxy` for whichever of them has none of its own;
///    `no_proxy` takes hosts out (`ProxyExceptions`). Each may be spelled in upper case too.
/// 2. Of the two spellings that in lower case counts, as with curl, wget and Python. It is the one that a CGI request
///    cannot set.
/// 3. Where `REQUEST_METHOD` is set the program most likely is a CGI script, and `HTTP_PROXY` a request's Proxy field:
///    it is not read then. `http_proxy` is.
/// 4. A variable that is set and empty, or blank, says that there is no proxy: it hides the other spelling, and
///    `all_proxy`.
/// 5. Loopback addresses, `localhost` and the names below it are never asked through a proxy from the environment.
/// 6. A value that cannot be used is an error. A variable that nothing depends on is not read: `all_proxy` beside the
///    two others, `no_proxy` beside none. Some desktops set `all_proxy` to what no program understands.
///
/// Knows no process: the variables come from outside.
package struct ProxyEnvironment: Sendable, Hashable {
    private let http: ProxyAddress?
    private let https: ProxyAddress?
    private let exceptions: ProxyExceptions

    /// Reads the variables; nil if no origin would use a proxy.
    package static func of(_ variables: [String: String]) throws(ProxyEnvironmentError) -> ProxyEnvironment? {
        let environment = try ProxyEnvironment(variables)
        let isUsed = environment.http != nil || environment.https != nil
        return isUsed && !environment.exceptions.coverAll ? environment : nil
    }

    private init(_ variables: [String: String]) throws(ProxyEnvironmentError) {
        let all = Setting("all_proxy", in: variables)
        let http = Setting("http_proxy", in: variables, isUpperRead: variables["REQUEST_METHOD"] == nil) ?? all
        let https = Setting("https_proxy", in: variables) ?? all
        self.http = try http?.address()
        self.https = https == http ? self.http : try https?.address()
        let isAnySet = self.http != nil || self.https != nil
        exceptions = isAnySet ? try Setting("no_proxy", in: variables)?.exceptions() ?? ProxyExceptions() : .init()
    }

    package func choice(for scheme: HTTP.Origin.Scheme, host: String, port: UInt16) -> ProxyChoice {
        let address = scheme == .http ? http : https
        guard let address, !Self.isLocal(host), !exceptions.cover(host: host, port: port) else { return .direct }
        return .proxy(address)
    }

    /// Whether a host is this machine, in any spelling (RFC 6761 §6.3).
    static func isLocal(_ host: String) -> Bool {
        switch IPAddress(host)?.unmapped {
        case .v4(let bits): return bits >> 24 == 127
        case .v6(let bits): return bits == 1
        case nil: break
        }
        let name = (host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host).lowercased()
        return name == "localhost" || name.isBelow("localhost")
    }
}

extension ProxyEnvironment {
    /// A variable that is set, with its value.
    private struct Setting: Equatable {
        let name: String
        /// The value without blanks around it: files from elsewhere leave a carriage return.
        let value: String

        init?(_ lower: String, in variables: [String: String], isUpperRead: Bool = true) {
            let upper = lower.uppercased()
            name = variables[lower] == nil ? upper : lower
            guard let value = variables[lower] ?? (isUpperRead ? variables[upper] : nil) else { return nil }
            self.value = String(value.trimmingBlanks)
        }

        func address() throws(ProxyEnvironmentError) -> ProxyAddress? {
            if value.isEmpty { return nil }
            do throws(ProxyAddressError) {
                return try ProxyAddress(value)
            } catch {
                throw ProxyEnvironmentError(variable: name, problem: .address(error))
            }
        }

        func exceptions() throws(ProxyEnvironmentError) -> ProxyExceptions {
            do throws(ProxyExceptionsError) {
                return try ProxyExceptions(value)
            } catch {
                throw ProxyEnvironmentError(variable: name, problem: .exceptions(error))
            }
        }
    }
}

/// The error for a variable with an unusable value. It holds no secret.
package struct ProxyEnvironmentError: Error, Sendable, Hashable {
    package enum Problem: Sendable, Hashable {
        case address(ProxyAddressError)
        case exceptions(ProxyExceptionsError)
    }

    /// The variable as spelled in the environment.
    package let variable: String
    package let problem: Problem
}

extension ProxyEnvironmentError: CustomStringConvertible {
    package var description: String {
        switch problem {
        case .address(let error): "the variable \(variable) is not a valid proxy: \(error)"
        case .exceptions(let error):
            "the variable \(variable) is not a valid list of hosts: \(error)"
        }
    }
}

extension ProxyEnvironment: CustomStringConvertible, CustomReflectable {
    package var description: String {
        let shown = { (address: ProxyAddress?) in address?.description ?? "direct" }
        return http == https ? shown(http) : "http: \(shown(http)), https: \(shown(https))"
    }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
    fileprivate var trimmingBlanks: Substring {
        let isBlank = { (character: Character) in character.isWhitespace }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return ""
        }
        return self[first...last]
    }
}
