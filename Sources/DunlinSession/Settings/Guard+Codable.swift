extension HTTPSession.Guard: Codable {
    private enum Key: String, CodingKey {
        case allowsPublicAddresses, allowedAddresses, deniedAddresses, schemes, ports, allowedHosts, deniedHosts
        case allowsUnixSockets, proxyAddresses, trustedProxies
    }

    /// A key that is missing is as in `publicInternet`. An entry that cannot be used throws.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func value<Value: Decodable>(_ key: Key, or standard: Value) throws -> Value {
            try container.decodeIfPresent(Value.self, forKey: key) ?? standard
        }
        self = .publicInternet
        allowsPublicAddresses = try value(.allowsPublicAddresses, or: true)
        allowedAddresses = try value(.allowedAddresses, or: [])
        deniedAddresses = try value(.deniedAddresses, or: [])
        schemes = try Self.schemes(try value(.schemes, or: nil), decoder)
        ports = try value(.ports, or: nil)
        allowedHosts = try value(.allowedHosts, or: [])
        deniedHosts = try value(.deniedHosts, or: [])
        allowsUnixSockets = try value(.allowsUnixSockets, or: false)
        proxyAddresses = try value(.proxyAddresses, or: [])
        trustedProxies = try value(.trustedProxies, or: [])
        if let problem { throw Self.corrupted("\(problem)", decoder) }
    }

    /// Sets are written in order, so that the same guard is always written in the same way.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(allowsPublicAddresses, forKey: .allowsPublicAddresses)
        try container.encode(allowedAddresses, forKey: .allowedAddresses)
        try container.encode(deniedAddresses, forKey: .deniedAddresses)
        try container.encode(schemes?.map(\.rawValue).sorted(), forKey: .schemes)
        try container.encode(ports?.sorted(), forKey: .ports)
        try container.encode(allowedHosts, forKey: .allowedHosts)
        try container.encode(deniedHosts, forKey: .deniedHosts)
        try container.encode(allowsUnixSockets, forKey: .allowsUnixSockets)
        try container.encode(proxyAddresses, forKey: .proxyAddresses)
        // Without user info, which is a secret and says nothing here.
        try container.encode(trustedProxies.map { "\(HTTPSession.Proxy.url($0))" }, forKey: .trustedProxies)
    }

    private static func schemes(_ names: [String]?, _ decoder: any Decoder) throws -> Set<HTTP.Origin.Scheme>? {
        guard let names else { return nil }
        let schemes = names.compactMap(HTTP.Origin.Scheme.init)
        guard schemes.count == names.count else { throw corrupted("guard.schemes: only http and https", decoder) }
        return Set(schemes)
    }

    private static func corrupted(_ reason: String, _ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: reason))
    }
}
