import DunlinTypes
import Foundation
import LedgerRows
import Testing

@Suite struct `Interface rules` {
    private static let eth0 = NetworkInterface(name: "eth0", index: 2, kind: .wired)
    private static let wlan0 = NetworkInterface(name: "wlan0", index: 3, kind: .wifi)
    private static let wwan0 = NetworkInterface(name: "wwan0", index: 4, kind: .wwan)
    private static let wg0 = NetworkInterface(name: "wg0", index: 5, kind: .tunnel)
    private static let lo = NetworkInterface(name: "lo", index: 1, kind: .loopback)
    private static let all = [eth0, wlan0, wwan0, wg0, lo]

    private static let mixed = {
        var rules = NetworkInterface.Rules.allow(names: "wwan0", kinds: .wired)
        rules.deniedNames = ["eth0"]
        return rules
    }()

    @Test(
        .rows("RQ-54", "AP-3"),
        arguments: [
            (.any, [eth0, wlan0, wwan0, wg0, lo]),
            (.deny(kinds: .wwan), [eth0, wlan0, wg0, lo]),
            (.deny(names: "eth0", "wg0"), [wlan0, wwan0, lo]),
            (.deny(names: "wlan0", kinds: .wwan, .tunnel), [eth0, lo]),
            (.allow(names: "eth0"), [eth0, lo]),
            (.allow(kinds: .wired, .wifi), [eth0, wlan0, lo]),
            (.allow(names: "wg0", kinds: .wifi), [wlan0, wg0, lo]),
            (mixed, [wwan0, lo]),
            (.deny(kinds: .loopback), [eth0, wlan0, wwan0, wg0]),
            (.deny(names: "lo"), [eth0, wlan0, wwan0, wg0]),
        ] as [(NetworkInterface.Rules, [NetworkInterface])])
    func `interface rules deny first, then allow only what is allowed, and this machine passes`(
        rules: NetworkInterface.Rules, allowed: [NetworkInterface]
    ) {
        #expect(Self.all.filter { rules.allows($0) } == allowed)
        #expect(rules.isAny == (rules == .any))
    }

    @Test(
        arguments: [
            (.any, "any interface"), (.deny(kinds: .wwan), "not wwan"),
            (.allow(names: "wlan0", "eth0", kinds: .wifi), "only eth0, wlan0, wifi"),
            (mixed, "only wwan0, wired, not eth0"),
        ] as [(NetworkInterface.Rules, String)])
    func `interface rules describe themselves, and are decoded as they were encoded`(
        rules: NetworkInterface.Rules, text: String
    ) throws {
        #expect("\(rules)" == text)
        #expect(try JSONDecoder().decode(NetworkInterface.Rules.self, from: try JSONEncoder().encode(rules)) == rules)
    }
}
