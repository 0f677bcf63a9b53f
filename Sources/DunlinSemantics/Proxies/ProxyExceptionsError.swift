internal import DunlinTypes

/// The error for an invalid entry of NO_PROXY.
package struct ProxyExceptionsError: Error, Sendable, Hashable {
    package enum Problem: Error, Sendable, Hashable {
        /// The entry is a URL, or has user info.
        case url
        case invalidHost
        /// The entry has a `*` elsewhere than at the beginning.
        case wildcard
        case invalidPort
        case range(AddressRange.Problem)
        case rangeWithPort
    }

    package let problem: Problem
    /// The entry; nil if it may hold a secret.
    package let entry: String?

    init(_ problem: Problem, in entry: Substring) {
        self.problem = problem
        self.entry = problem == .url ? nil : VisibleText.of(entry, upTo: 100)
    }
}

extension ProxyExceptionsError: CustomStringConvertible {
    package var description: String { entry.map { "\"\($0)\": \(problem)" } ?? "\(problem)" }
}

extension ProxyExceptionsError.Problem: CustomStringConvertible {
    /// Half a sentence that says what to write.
    package var description: String {
        switch self {
        case .url: "an entry must be a host or a range of addresses, such as example.com or 10.0.0.0/8, not a URL"
        case .invalidHost: "this is not a host; write a name, an address or a range, such as example.com or 10.0.0.0/8"
        case .wildcard: "a * may only stand alone, or in front of a name as in *.example.com; write 10.0.0.0/8 for 10.*"
        case .invalidPort: "the port is not a number from 1 to 65535"
        case .range(let problem): "\(problem)"
        case .rangeWithPort: "a range of addresses is for all ports; write it without one"
        }
    }
}
