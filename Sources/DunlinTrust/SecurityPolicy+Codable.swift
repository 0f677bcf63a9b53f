extension SecurityPolicy: Codable {
    private enum Key: String, CodingKey {
        case pinningMode, pins, backupPins, hosts, pinPosition, requiresPinningForAllHosts, allowsInvalidCertificates
        case validatesDomainName, certificateRules
        /// Encoded only for `insecure`, so that no policy becomes insecure by an omission.
        case insecure
    }

    /// Decodes a policy. A missing key has its default. Text that is not a pin throws.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func value<Value: Decodable>(_ key: Key, or standard: Value) throws -> Value {
            try container.decodeIfPresent(Value.self, forKey: key) ?? standard
        }
        self.init()
        pinningMode = try value(.pinningMode, or: pinningMode)
        pins = try value(.pins, or: pins)
        backupPins = try value(.backupPins, or: backupPins)
        hosts = try value(.hosts, or: hosts)
        pinPosition = try value(.pinPosition, or: pinPosition)
        requiresPinningForAllHosts = try value(.requiresPinningForAllHosts, or: requiresPinningForAllHosts)
        allowsInvalidCertificates = try value(.allowsInvalidCertificates, or: allowsInvalidCertificates)
        validatesDomainName = try value(.validatesDomainName, or: validatesDomainName)
        certificateRules = try value(.certificateRules, or: certificateRules)
        isDeclaredInsecure = try value(.insecure, or: false)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(pinningMode, forKey: .pinningMode)
        try container.encode(Self.sorted(pins), forKey: .pins)
        try container.encode(Self.sorted(backupPins), forKey: .backupPins)
        try container.encode(hosts.mapValues(Self.sorted), forKey: .hosts)
        try container.encode(pinPosition, forKey: .pinPosition)
        try container.encode(requiresPinningForAllHosts, forKey: .requiresPinningForAllHosts)
        try container.encode(allowsInvalidCertificates, forKey: .allowsInvalidCertificates)
        try container.encode(validatesDomainName, forKey: .validatesDomainName)
        if certificateRules != .strict { try container.encode(certificateRules, forKey: .certificateRules) }
        if isDeclaredInsecure { try container.encode(true, forKey: .insecure) }
    }

    /// The pins sorted, so that equal policies are always encoded in the same way.
    private static func sorted(_ pins: Set<Pin>) -> [Pin] {
        pins.sorted { $0.description < $1.description }
    }
}
