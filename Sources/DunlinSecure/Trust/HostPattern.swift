internal import DunlinTypes

/// A pattern for the hosts that pins are for. `api.test` is that host alone, `*.api.test` every host with one label
/// more, `**.api.test` that host and every host below it. An address stands for itself.
package struct HostPattern: Sendable, Hashable {
    private enum Reach: Int {
        case below
        case oneLabel
        case exact
    }

    private let reach: Reach
    private let host: HostIdentity

    /// Creates a pattern from A-labels; nil if it names no host.
    package init?(_ text: String) {
        let (reach, rest): (Reach, Substring) =
            if text.hasPrefix("**.") { (.below, text.dropFirst(3)) } else if text.hasPrefix("*.") {
                (.oneLabel, text.dropFirst(2))
            } else { (.exact, text[...]) }
        let host = HostIdentity(String(rest))
        switch host {
        case .address: guard reach == .exact else { return nil }
        // Whoever names himself is a host.
        case .name(let name): guard HostMatch.matches(host, .dns(Bytes(name))) else { return nil }
        }
        self.reach = reach
        self.host = host
    }

    package func matches(_ other: HostIdentity) -> Bool {
        switch (host, other) {
        case (.address, _): host == other
        case (.name(let own), .name(let name)):
            switch reach {
            case .exact: name == own
            case .oneLabel: name.hasSuffix(".\(own)") && !name.dropLast(own.utf8.count + 1).utf8.contains(dot)
            case .below: name == own || name.hasSuffix(".\(own)")
            }
        case (.name, .address): false
        }
    }

    /// Whether the other pattern is more specific about a host that both match.
    package func precedes(_ other: HostPattern) -> Bool {
        (length, reach.rawValue) < (other.length, other.reach.rawValue)
    }

    private var length: Int {
        if case .name(let name) = host, reach != .exact { name.utf8.count } else { .max }
    }

    private var dot: UInt8 { UInt8(ascii: ".") }

    package var text: String {
        switch reach {
        case .exact: host.text
        case .oneLabel: "*.\(host.text)"
        case .below: "**.\(host.text)"
        }
    }
}
