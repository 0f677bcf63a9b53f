extension HTTPSession.Guard: SettingsGroup {
    /// In order, so that the same guard is always written in the same way.
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("allowsPublicAddresses", &allowsPublicAddresses, orNull: true)
        try visitor.visit("allowedAddresses", &allowedAddresses, orNull: [])
        try visitor.visit("deniedAddresses", &deniedAddresses, orNull: [])
        try visitor.visit("schemes", &schemes, as: { $0?.map(\.rawValue).sorted() }, Self.schemes)
        try visitor.visit("ports", &ports, as: { $0?.sorted() }) { .some($0.map(Set.init)) }
        try visitor.visit("allowedHosts", &allowedHosts, orNull: [])
        try visitor.visit("deniedHosts", &deniedHosts, orNull: [])
        try visitor.visit("allowsUnixSockets", &allowsUnixSockets, orNull: false)
        try visitor.visit("proxyAddresses", &proxyAddresses, orNull: [])
        // Without user info, which is a secret and says nothing here.
        try visitor.visit("trustedProxies", &trustedProxies, as: { $0.map { "\(HTTPSession.Proxy.url($0))" } }) {
            (urls: [String]?) in urls ?? []
        }
    }

    private static func schemes(_ names: [String]?) -> Set<HTTP.Origin.Scheme>?? {
        guard let names else { return .some(nil) }
        let schemes = names.compactMap(HTTP.Origin.Scheme.init)
        return schemes.count == names.count ? .some(Set(schemes)) : nil
    }
}

extension SettingsVisitor {
    /// A value that is the usual one where null is written.
    fileprivate mutating func visit<Value: Codable>(
        _ name: String, _ value: inout Value, orNull usual: Value
    ) throws(Failure) {
        try visit(name, &value, as: Optional.some) { $0 ?? usual }
    }
}

extension HTTPSession.Guard: Codable {
    /// A key that is missing is as in `publicInternet`. An entry that cannot be used throws.
    public init(from decoder: any Decoder) throws {
        self = .publicInternet
        var reader = SettingsReader(container: try decoder.container(keyedBy: SettingsKey.self))
        try visitSettings(&reader)
        if let problem {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "\(problem)"))
        }
    }

    public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
}
