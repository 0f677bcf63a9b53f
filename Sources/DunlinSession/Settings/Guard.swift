internal import DunlinSemantics

extension HTTPSession {
    /// Rules for where requests may go, judged by the addresses that are actually connected to.
    ///
    /// ```swift
    /// configuration.guard = .publicInternet
    /// ```
    ///
    /// A request is judged by scheme, port and host name before anything is looked up, and by each address before it is
    /// connected to: for every attempt, redirect and retry, and for connections that are opened ahead of need. So a
    /// name that changes its address between look-ups gains nothing. What is not allowed fails with `NetworkError` code
    /// `guardRefused`; the error names what was refused and what it was for. A connection opened under one guard is
    /// never used by a request with another.
    ///
    /// Addresses are given singly or as ranges, `10.0.0.0/8` or `fd00::/8`. Hosts are given as names: `example.com` for
    /// that host, `*.example.com` for all below it. An invalid range or name is an error when the session is created.
    public struct Guard: Sendable, Hashable {
        /// Whether public addresses are allowed: those that no registry reserves for a special purpose.
        public var allowsPublicAddresses: Bool
        /// Further ranges that are allowed. A range that includes a cloud's metadata service does not allow its
        /// address; only the single address does.
        public var allowedAddresses: [String] = []
        /// Ranges that are refused, even if something else allows them.
        public var deniedAddresses: [String] = []
        /// The allowed schemes; nil for http and https.
        public var schemes: Set<HTTP.Origin.Scheme>?
        /// The allowed ports; nil for all.
        public var ports: Set<UInt16>?
        /// The allowed hosts. If there are any, other hosts are refused, and so are addresses instead of names.
        public var allowedHosts: [String] = []
        public var deniedHosts: [String] = []
        /// Whether connections to Unix sockets are allowed.
        public var allowsUnixSockets = false
        /// Ranges in which proxies may be, whatever else is allowed.
        public var allowedProxyAddresses: [String] = []
        /// The URLs of proxies that themselves judge where they connect to. Through any other proxy that resolves names
        /// (`http`, `socks5h`), no name can be requested, since Dunlin would not see the address.
        public var trustedProxies: [String] = []
        /// The guard that must allow a request too.
        package var other = Other.none

        package indirect enum Other: Sendable, Hashable {
            case none
            case rules(Guard)
        }

        private init(allowsPublicAddresses: Bool) {
            self.allowsPublicAddresses = allowsPublicAddresses
        }

        /// Public addresses only: nothing on this machine, in its own networks, or of a cloud's metadata service.
        public static let publicInternet = Guard(allowsPublicAddresses: true)
        /// Only addresses that are allowed explicitly.
        public static let nothing = Guard(allowsPublicAddresses: false)
    }
}

extension HTTPSession.PerRequest<HTTPSession.Guard> {
    public static var publicInternet: Self { .value(.publicInternet) }
}

extension HTTPSession.Guard {
    /// An entry that cannot be used, and why.
    struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }

        init(_ list: String, _ entry: String, _ cause: some Error) {
            description = "guard.\(list): \"\(VisibleText.of(entry, upTo: 100))\": \(cause)"
        }
    }

    /// The first unusable entry; nil if all can be used.
    var problem: Problem? {
        do throws(Problem) {
            _ = try rules()
            return nil
        } catch {
            return error
        }
    }

    /// The rules. If an entry is unusable, which was reported before, they allow nothing.
    var enforcedRules: GuardRules {
        do throws(Problem) {
            return try rules()
        } catch {
            return .nothing
        }
    }

    private func rules() throws(Problem) -> GuardRules {
        var rules = allowsPublicAddresses ? GuardRules.publicInternet : .nothing
        rules.allowedRanges = try Self.ranges(allowedAddresses, "allowedAddresses")
        rules.deniedRanges = try Self.ranges(deniedAddresses, "deniedAddresses")
        (rules.schemes, rules.ports) = (schemes, ports)
        rules.allowedHosts = try Self.names(allowedHosts, "allowedHosts")
        rules.deniedHosts = try Self.names(deniedHosts, "deniedHosts")
        rules.allowsUnixSockets = allowsUnixSockets
        rules.proxyRanges = try Self.ranges(allowedProxyAddresses, "allowedProxyAddresses")
        for (index, text) in trustedProxies.enumerated() {
            do throws(ProxyAddressError) {
                rules.trustedProxies.insert(GuardRules.TrustedProxy(try ProxyAddress(text)))
            } catch {
                // The text may contain a password.
                throw Problem("guard.trustedProxies: number \(index + 1): \(error)")
            }
        }
        if case .rules(let other) = other { rules.other = .rules(try other.rules()) }
        return rules
    }

    private static func ranges(_ entries: [String], _ list: String) throws(Problem) -> Set<AddressRange> {
        var ranges: Set<AddressRange> = []
        for entry in entries {
            do throws(AddressRange.Problem) {
                ranges.insert(try AddressRange(entry))
            } catch {
                throw Problem(list, entry, error)
            }
        }
        return ranges
    }

    private static func names(_ entries: [String], _ list: String) throws(Problem) -> Set<NamePattern> {
        var names: Set<NamePattern> = []
        for entry in entries {
            do throws(NamePattern.Problem) {
                names.insert(try NamePattern(entry))
            } catch {
                throw Problem(list, entry, error)
            }
        }
        return names
    }
}

extension HTTPSession.Guard: CustomStringConvertible {
    /// A line that says what is allowed.
    public var description: String { problem?.description ?? "\(enforcedRules)" }
}
