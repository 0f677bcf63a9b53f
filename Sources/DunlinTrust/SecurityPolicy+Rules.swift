package import DunlinSecure
internal import DunlinSemantics
package import DunlinTypes

extension SecurityPolicy {
    /// The policy in the form that checks connections. Throws if it contradicts itself.
    package func rules() throws(NetworkError.TrustConfigurationError) -> TrustRules {
        try checkSense()
        var rules = TrustRules()
        rules.mode =
            switch pinningMode {
            case .none: .none
            case .publicKey: .publicKey
            case .certificate: .certificate
            }
        rules.position = pinPosition == .leaf ? .leaf : .any
        rules.requiresPins = requiresPinningForAllHosts
        rules.allowsInvalid = allowsInvalidCertificates
        rules.checksHost = validatesDomainName
        rules.isStrict = certificateRules == .strict
        guard isPinning else { return rules }
        rules.pins = try compiled(pins.union(backupPins))
        for (text, pins) in hosts {
            guard !pins.isEmpty else {
                throw .contradiction("`hosts` lists \(text) without a pin; add one, or leave the host out")
            }
            rules.hosts[try Self.pattern(text)] = try compiled(pins)
        }
        return rules
    }

    private func checkSense() throws(NetworkError.TrustConfigurationError) {
        if pinningMode == .none, allowsInvalidCertificates, !validatesDomainName, !isDeclaredInsecure {
            throw .contradiction(
                "the policy would trust every server; if that is what you want, use `SecurityPolicy.insecure`")
        }
        if pinningMode == .none, requiresPinningForAllHosts {
            throw .contradiction(
                "`requiresPinningForAllHosts` needs the pinning mode `publicKey` or `certificate`, and it is `none`")
        }
    }

    private func compiled(_ pins: Set<Pin>) throws(NetworkError.TrustConfigurationError) -> TrustRules.Pins {
        switch pinningMode {
        case .none: return TrustRules.Pins()
        case .publicKey: return TrustRules.Pins(keys: Set(pins.map(\.publicKey)), certificates: Self.certificates(pins))
        case .certificate:
            guard pins.allSatisfy({ $0.certificate != nil }) else {
                throw .contradiction(
                    "a digest of a public key cannot pin a certificate; use the pinning mode `publicKey`")
            }
            return TrustRules.Pins(certificates: Self.certificates(pins))
        }
    }

    private static func certificates(_ pins: Set<Pin>) -> Set<Certificate> { Set(pins.compactMap(\.certificate)) }

    /// The pattern, whose host may be written in any usual way.
    private static func pattern(_ text: String) throws(NetworkError.TrustConfigurationError) -> HostPattern {
        let prefix = ["**.", "*."].first(where: text.hasPrefix) ?? ""
        let host = String(text.dropFirst(prefix.utf8.count))
        do throws(AddressError) {
            let address = try WebAddress("https://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host)")
            if address.target == "/", address.userInfo == nil, address.fragment == nil, address.origin.port == 443,
                !host.hasSuffix("/"), let pattern = HostPattern(prefix + address.origin.host)
            {
                return pattern
            }
        } catch {
            throw .notAHostPattern(text)
        }
        throw .notAHostPattern(text)
    }
}
