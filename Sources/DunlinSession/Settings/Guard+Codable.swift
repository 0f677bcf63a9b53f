extension HTTPSession.Guard: SettingsGroup {
    /// Visits the settings in a fixed order, so that equal guards are always written in the same way.
    mutating func visitSettings<Visitor: SettingsVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.visit("allowsPublicAddresses", &allowsPublicAddresses, orNull: true)
        try visitor.visit("allowedAddresses", &allowedAddresses, orNull: [])
        try visitor.visit("deniedAddresses", &deniedAddresses, orNull: [])
        try visitor.visit("schemes", &schemes, as: { $0?.map(\.rawValue).sorted() }, Self.schemes)
        try visitor.visit("ports", &ports, as: { $0?.sorted() }) { .some($0.map(Set.init)) }
        try visitor.visit("allowedHosts", &allowedHosts, orNull: [])
        try visitor.visit("deniedHosts", &deniedHosts, orNull: [])
        try visitor.visit("allowsUnixSockets", &allowsUnixSockets, orNull: false)
        try visitor.visit("allowedProxyAddresses", &allowedProxyAddresses, orNull: [])
        // Without user info, which is secret and not needed here.
        try visitor.visit("trustedProxies", &trustedProxies, as: { $0.map { "\(HTTPSession.Proxy.url($0))" } }) {
            (urls: [String]?) in urls ?? []
        }
        try visitor.visit("other", &other, as: { if case .rules(let rules) = $0 { rules } else { nil } }) {
            (rules: Self?) in rules.map { .rules($0) } ?? Other.none
        }
    }

    private static func schemes(_ names: [String]?) -> Set<HTTP.Origin.Scheme>?? {
        guard let names else { return .some(nil) }
        let schemes = names.compactMap(HTTP.Origin.Scheme.init)
        return schemes.count == names.count ? .some(Set(schemes)) : nil
    }
}

extension SettingsVisitor {
    /// Visits a value that is written as null if it is the usual one.
    fileprivate mutating func visit<Value: Codable>(
        _ name: String, _ value: inout Value, orNull usual: Value
    ) throws(Failure) {
        try visit(name, &value, as: Optional.some) { $0 ?? usual }
    }
}

extension HTTPSession.Guard: Codable {
    /// Decodes a guard. A missing key has its value in `publicInternet`. An unusable entry throws.
    public init(from decoder: any Decoder) throws {
        self = .publicInternet
        try read(from: decoder)
        if let problem {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "\(problem)"))
        }
    }

    public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
}
