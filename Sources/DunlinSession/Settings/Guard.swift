internal import DunlinSemantics

extension HTTPSession {
    /// Where requests may go, judged on the addresses that are really connected to.
    ///
    /// ```swift
    /// configuration.guard = .publicInternet
    /// ```
    ///
    /// A request is judged by scheme, port and host's name before anything is looked up, and by each address before it
    /// is connected to: for every attempt, redirect and retry, and for connections that are opened ahead of need. So a
    /// name that stands for another address the next time gains nothing. What is not allowed fails with `NetworkError`
    /// code `guardRefused`, and the error names what was refused and what it is for. A connection that was opened under
    /// one guard is never used by a request that has another.
    ///
    /// Addresses are given as ranges, `10.0.0.0/8` or `fd00::/8`, or alone. Hosts are given as names: `example.com` for
    /// that one, `*.example.com` for all below it. A range or name that is none is an error when the session is made.
    public struct Guard: Sendable, Hashable {
        /// Whether any public address is allowed: one that no registry sets aside for a special purpose.
        public var allowsPublicAddresses: Bool
        /// Ranges that are allowed beside them. A range around the address of a cloud's metadata service does not
        /// allow that address; the address alone does.
        public var allowedAddresses: [String] = []
        /// Ranges that are refused, whatever else allows them.
        public var deniedAddresses: [String] = []
        /// Nil for http and https.
        public var schemes: Set<HTTP.Origin.Scheme>?
        /// Nil for all.
        public var ports: Set<UInt16>?
        /// If there are any, other hosts are refused, and so are addresses in the place of a name.
        public var allowedHosts: [String] = []
        public var deniedHosts: [String] = []
        /// Whether Unix sockets may be connected to.
        public var allowsUnixSockets = false
        /// Ranges in which proxies may be, whatever else is allowed.
        public var proxyAddresses: [String] = []
        /// Proxies, by their URLs, that judge by themselves where they connect to. Through any other that resolves
        /// names (`http`, `socks5h`) no name can be asked for: nobody here would see what is connected to.
        public var trustedProxies: [String] = []

        private init(allowsPublicAddresses: Bool) {
            self.allowsPublicAddresses = allowsPublicAddresses
        }

        /// Public addresses: nothing on this machine, in its own networks, or of a cloud's metadata service.
        public static let publicInternet = Guard(allowsPublicAddresses: true)
        /// No address but those that are allowed one by one.
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

    /// Nil if every entry can be used.
    var problem: Problem? {
        do throws(Problem) {
            _ = try rules()
            return nil
        } catch {
            return error
        }
    }

    /// The rules; those that allow nothing where an entry cannot be used, which was refused before.
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
        rules.proxyRanges = try Self.ranges(proxyAddresses, "proxyAddresses")
        for (index, text) in trustedProxies.enumerated() {
            do throws(ProxyAddressError) {
                rules.trustedProxies.insert(GuardRules.TrustedProxy(try ProxyAddress(text)))
            } catch {
                // The text may have a password in it.
                throw Problem("guard.trustedProxies: number \(index + 1): \(error)")
            }
        }
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
    /// What is allowed, in one line.
    public var description: String { problem?.description ?? "\(enforcedRules)" }
}
