internal import Glibc

/// The extensions of a certificate, as DER (RFC 5280 §4.2).
extension CertificateTemplate {
    func extensions(
        key: CertificateAuthority.Key, issuer: CertificateAuthority.Key
    ) throws(AuthorityError) -> [UInt8] {
        var all: [[UInt8]] = []
        if hasBasicConstraints { all.append(Self.basicConstraints(isAuthority, pathLength)) }
        if let usage { all.append(Self.usage(usage)) }
        if !purposes.isEmpty { all.append(Self.purposes(purposes)) }
        if !names.isEmpty {
            let names = names.map { GeneralName(host: $0).der }
            all.append(Self.entry(.subjectNames, DER.sequence(of: names), isCritical: commonName == nil))
        }
        if !permittedNames.isEmpty || !excludedNames.isEmpty {
            let constraints = try Self.trees(0, permittedNames) + Self.trees(1, excludedNames)
            all.append(Self.entry(.nameConstraints, DER.sequence(constraints), isCritical: true))
        }
        if requiresStaple {
            // 5 stands for status_request.
            all.append(Self.entry(.feature, DER.sequence(DER.integer(5))))
        }
        all.append(Self.entry(.subjectKey, DER.octets(try key.identifier)))
        if hasAuthorityKey { all.append(Self.authorityKey(try issuer.identifier)) }
        return DER.explicit(3, DER.sequence(of: all))
    }

    static func entry(_ name: ObjectID, _ value: [UInt8], isCritical: Bool = false) -> [UInt8] {
        DER.sequence(DER.object(name), isCritical ? DER.yes : [], DER.octets(value))
    }

    static func authorityKey(_ identifier: [UInt8]) -> [UInt8] {
        entry(.authorityKey, DER.sequence(DER.implicit(0, identifier)))
    }

    private static func basicConstraints(_ isAuthority: Bool, _ pathLength: UInt8?) -> [UInt8] {
        let length = pathLength.map { DER.integer($0) } ?? []
        return entry(.basicConstraints, DER.sequence(isAuthority ? DER.yes : [], length), isCritical: true)
    }

    private static func usage(_ usage: Usage) -> [UInt8] {
        let unused = UInt8(clamping: usage.rawValue == 0 ? 0 : usage.rawValue.trailingZeroBitCount)
        let bits = usage.rawValue == 0 ? [] : [usage.rawValue]
        return entry(.keyUsage, DER.bits(bits, unused: unused), isCritical: true)
    }

    private static func purposes(_ purposes: [Purpose]) -> [UInt8] {
        let identifiers = purposes.map { purpose in
            switch purpose {
            case .server: DER.object(.serverPurpose)
            case .client: DER.object(.clientPurpose)
            case .codeSigning: DER.object(.codePurpose)
            case .statusSigning: DER.object(.statusPurpose)
            }
        }
        return entry(.purposes, DER.sequence(of: identifiers))
    }

    private static func trees(_ number: UInt8, _ names: [String]) throws(AuthorityError) -> [UInt8] {
        var all: [UInt8] = []
        for name in names { all += DER.sequence(try GeneralName(constraint: name).der) }
        return all.isEmpty ? [] : DER.explicit(number, all)
    }
}

extension CertificateAuthority.Key {
    /// The subject or authority key identifier, by the first method of RFC 5280 §4.2.1.2.
    var identifier: [UInt8] {
        get throws(AuthorityError) { try Digest.sha1(publicBits) }
    }
}

/// A host in a certificate.
enum GeneralName {
    case domain(String)
    /// An address, or for a constraint an address and its mask.
    case address([UInt8])

    init(host: String) {
        self = Self.address(host).map { .address($0) } ?? .domain(host)
    }

    /// Parses `api.test`, `10.0.0.0/8` or `fd00::/16`; a single address stands for itself.
    init(constraint: String) throws(AuthorityError) {
        let parts = constraint.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = Self.address(String(parts[0])) else {
            self = .domain(constraint)
            return
        }
        let length = parts.count == 2 ? Int(parts[1]) : address.count * 8
        guard let length, (0...address.count * 8).contains(length) else {
            throw AuthorityError(.readingName, constraint)
        }
        let mask = address.indices.map { index in
            UInt8(truncatingIfNeeded: 0xff00 >> min(max(length - index * 8, 0), 8))
        }
        self = .address(zip(address, mask).map { $0 & $1 } + mask)
    }

    var der: [UInt8] {
        switch self {
        case .domain(let name): DER.implicit(2, Array(name.utf8))
        case .address(let bytes): DER.implicit(7, bytes)
        }
    }

    private static func address(_ text: String) -> [UInt8]? {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 { return withUnsafeBytes(of: v4, Array.init) }
        if inet_pton(AF_INET6, text, &v6) == 1 { return withUnsafeBytes(of: v6, Array.init) }
        return nil
    }
}
