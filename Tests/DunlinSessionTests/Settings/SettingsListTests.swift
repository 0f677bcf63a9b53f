import Dunlin
import FoundationEssentials
import Testing

@testable import DunlinSession

/// The names of what a value stores.
private func labels(of value: Any) -> [String] {
    Mirror(reflecting: value).children.flatMap { child -> [String] in
        switch child.value {
        // Settings of the group around them, as they are saved.
        case let probes as HTTP.SocketOptions.KeepAlive:
            return ["keepAlive"] + labels(of: probes).map { "keepAlive\($0.prefix(1).uppercased())\($0.dropFirst())" }
        case let limits where value is Timeouts: return labels(of: limits)
        default: return [child.label ?? ""]
        }
    }
}

/// Compares each group with the names that it tells.
private struct Comparison: SettingsVisitor {
    /// Settings that are saved under another name than their property's.
    private static let properties = [
        "baseURL": "base", "names": "nameResolution", "rotates": "order", "when": "conditions",
        "staple": "stapling",
    ]

    private var names: [String] = []
    private(set) var groups = 0

    mutating func visit<Value, Written: Codable>(
        _ name: String, _ value: inout Value, as write: (Value) -> Written, _ read: (Written) -> Value?
    ) {
        names.append(name)
    }

    mutating func leaveOut(_ names: String...) { self.names += names }

    mutating func group(_ name: String, _ group: inout some SettingsGroup) {
        names.append(name)
        var inner = Comparison()
        group.visitSettings(&inner)
        groups += inner.groups + 1
        let told = inner.names.map { Self.properties[$0] ?? $0 }
        #expect(told.sorted() == labels(of: group).sorted(), "\(name)")
    }
}

@Suite struct `The list of settings` {
    @Test func `every property of a configuration is told to visitors once, and so is each of its groups'`() {
        var (configuration, rules) = (HTTPSession.Configuration(), HTTPSession.Guard.publicInternet)
        configuration.sockets.keepAlive = .init()
        var comparison = Comparison()
        comparison.group("configuration", &configuration)
        comparison.group("guard", &rules)
        #expect(comparison.groups == 16)
    }

    @Test func `every property of a security policy is saved`() throws {
        var policy = SecurityPolicy.insecure
        policy.certificateRules = .compatible
        let members = try DynamicValue(json: Bytes(JSONEncoder().encode(policy))).members ?? [:]
        let saved = members.map { $0.key == "insecure" ? "isDeclaredInsecure" : $0.key }
        #expect(saved.sorted() == labels(of: policy).sorted())
    }

    private static let trust: [(property: String, decides: Bool, change: @Sendable (inout HTTPSession.TLS) -> Void)] = [
        ("policy", true, { $0.policy.validatesDomainName = false }),
        ("roots", true, { $0.roots = .only([.bytes("der")]) }),
        ("revocation", true, { $0.revocation.coversAuthorities = true }),
        ("versions", false, { $0.versions = .tls13 ... .tls13 }),
        ("ciphers", false, { $0.ciphers = "A" }),
        ("suites", false, { $0.suites = "B" }),
        ("groups", false, { $0.groups = "C" }),
        ("identity", false, { $0.identity = .pem("/me.pem") }),
        ("keyLog", false, { $0.keyLog = .file("/keys") }),
        ("resumesSessions", false, { $0.resumesSessions = false }),
    ]

    @Test func `the name of a trust changes with what decides which servers are trusted, and with nothing else`() throws
    {
        #expect(Self.trust.map(\.property).sorted() == labels(of: HTTPSession.TLS()).sorted())
        var names: Set<String> = []
        for (property, decides, change) in Self.trust {
            var tls = HTTPSession.TLS()
            change(&tls)
            let name = try tls.trustName([])
            #expect(name.isEmpty != decides, "\(property)")
            if decides { #expect(names.insert(name).inserted, "\(property)") }
        }
        #expect(try HTTPSession.TLS().trustName([]).isEmpty)
    }

    private static let rules: [(property: String, change: @Sendable (inout HTTPSession.Guard) -> Void)] = [
        ("allowsPublicAddresses", { $0.allowsPublicAddresses = false }),
        ("allowedAddresses", { $0.allowedAddresses = ["10.0.0.0/8"] }),
        ("deniedAddresses", { $0.deniedAddresses = ["10.0.0.0/8"] }),
        ("schemes", { $0.schemes = [.https] }),
        ("ports", { $0.ports = [443] }),
        ("allowedHosts", { $0.allowedHosts = ["a.test"] }),
        ("deniedHosts", { $0.deniedHosts = ["a.test"] }),
        ("allowsUnixSockets", { $0.allowsUnixSockets = true }),
        ("allowedProxyAddresses", { $0.allowedProxyAddresses = ["10.0.0.0/8"] }),
        ("trustedProxies", { $0.trustedProxies = ["http://proxy.test:3128"] }),
        ("other", { $0.other = .rules(.nothing) }),
    ]

    @Test func `each rule of a guard is saved, and changes the guard's name`() throws {
        #expect(Self.rules.map(\.property).sorted() == labels(of: HTTPSession.Guard.publicInternet).sorted())
        var names = [Access.name(of: HTTPSession.Guard.publicInternet.enforcedRules)]
        for (property, change) in Self.rules {
            var rules = HTTPSession.Guard.publicInternet
            change(&rules)
            #expect(rules.problem == nil)
            let back = try JSONDecoder().decode(HTTPSession.Guard.self, from: JSONEncoder().encode(rules))
            #expect(back == rules, "\(property)")
            let name = Access.name(of: rules.enforcedRules)
            #expect(!names.contains(name), "\(property)")
            names.append(name)
        }
    }

    private static let hooks: [(property: String, change: @Sendable (inout HTTPSession.Hooks) -> Void)] = [
        ("redirect", { $0.redirect = { _ in nil } }),
        ("replacementBody", { $0.replacementBody = { _ in nil } }),
        ("interimResponse", { $0.interimResponse = { _, _ in } }),
        ("response", { $0.response = { _, _ in nil } }),
        ("storing", { $0.storing = { _, _ in nil } }),
        ("destination", { $0.destination = { _, _ in nil } }),
        ("data", { $0.data = { _, _ in } }),
        ("uploadProgress", { $0.uploadProgress = { _, _ in } }),
        ("downloadProgress", { $0.downloadProgress = { _, _ in } }),
        ("waitingForConnectivity", { $0.waitingForConnectivity = { _, _ in } }),
        ("retrying", { $0.retrying = { _, _ in } }),
        ("reconnecting", { $0.reconnecting = { _, _ in } }),
        ("transferEnded", { $0.transferEnded = { _, _ in } }),
        ("metrics", { $0.metrics = { _, _ in } }),
        ("completed", { $0.completed = { _ in } }),
        ("shutDown", { $0.shutDown = {} }),
    ]

    @Test func `each hook but the session's own makes its requests observed`() {
        #expect(Self.hooks.map(\.property).sorted() == labels(of: HTTPSession.Hooks()).sorted())
        for (property, change) in Self.hooks {
            var hooks = HTTPSession.Hooks()
            change(&hooks)
            #expect(hooks.isSet == (property != "shutDown"), "\(property)")
        }
    }
}
