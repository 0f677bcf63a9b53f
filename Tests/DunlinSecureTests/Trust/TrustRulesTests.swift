import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSecure

@Suite struct `Rules of trust` {
    private static let one = Certificate.Fingerprint(unchecked: Bytes([UInt8](repeating: 1, count: 32)))
    private static let two = Certificate.Fingerprint(unchecked: Bytes([UInt8](repeating: 2, count: 32)))
    private static let onePin = TrustRules.Pins(keys: [one])
    private static let twoPin = TrustRules.Pins(keys: [two])

    private static func rules(
        _ mode: TrustRules.Mode = .publicKey, pins: TrustRules.Pins = .init(), hosts: [String: TrustRules.Pins] = [:],
        requires: Bool = false, allows: Bool = false, checks: Bool = true
    ) -> TrustRules {
        var rules = TrustRules()
        rules.mode = mode
        rules.pins = pins
        for (text, pins) in hosts { if let pattern = HostPattern(text) { rules.hosts[pattern] = pins } }
        rules.requiresPins = requires
        rules.allowsInvalid = allows
        rules.checksHost = checks
        return rules
    }

    static let demands: [(TrustRules, TrustRules.Demand)] = [
        (TrustRules(), .roots), (rules(.none, checks: false), .roots),
        (rules(.none, pins: onePin, allows: true), .refusal(.nameNeedsPin)),
        (rules(.none, allows: true), .refusal(.nameNeedsPin)), (rules(.none, allows: true, checks: false), .nothing),
        (rules(.publicKey), .refusal(.noPins)), (rules(.certificate), .refusal(.noPins)),
        (rules(.publicKey, allows: true), .refusal(.nameNeedsPin)),
        (rules(.publicKey, allows: true, checks: false), .refusal(.noPins)),
        (rules(pins: onePin), .pins(onePin)), (rules(pins: onePin, allows: true), .pins(onePin)),
        (rules(hosts: ["a.test": onePin]), .pins(onePin)), (rules(hosts: ["b.test": onePin]), .roots),
        (rules(hosts: ["b.test": onePin], requires: true), .refusal(.hostNotPinned)),
        // What is allowed to pinned hosts is not allowed to others.
        (rules(hosts: ["b.test": onePin], allows: true), .roots),
        (rules(hosts: ["b.test": onePin], allows: true, checks: false), .roots),
        (rules(pins: twoPin, hosts: ["b.test": onePin]), .pins(twoPin)),
        (rules(pins: twoPin, hosts: ["a.test": onePin]), .pins(onePin)),
        (rules(hosts: ["**.test": twoPin, "a.test": onePin]), .pins(onePin)),
    ]

    @Test(.rows("SP-6"), arguments: demands)
    func `the rules of trust ask one thing of a host`(rules: TrustRules, demand: TrustRules.Demand) {
        #expect(rules.demand(for: HostIdentity("a.test")) == demand)
    }

    static let precedence: [(String, [String])] = [
        ("x.a.test", ["x.a.test", "*.a.test", "**.a.test", "**.test"]),
        ("x.y.a.test", ["*.y.a.test", "**.y.a.test", "**.a.test"]),
    ]

    @Test(arguments: precedence)
    func `the rules of trust take the pattern that says most about the host`(host: String, patterns: [String]) {
        for (index, pattern) in patterns.enumerated() {
            var hosts: [String: TrustRules.Pins] = [:]
            for other in patterns[index...] { hosts[other] = other == pattern ? Self.onePin : Self.twoPin }
            #expect(Self.rules(hosts: hosts).demand(for: HostIdentity(host)) == .pins(Self.onePin), "\(pattern)")
        }
    }
}
