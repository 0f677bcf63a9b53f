internal import DunlinTypes

/// Why an entry of NO_PROXY is none.
package struct ProxyExceptionsError: Error, Sendable, Hashable {
    package enum Problem: Error, Sendable, Hashable {
        /// A URL, or something with user info.
        case url
        case invalidHost
        /// A `*` elsewhere than at the beginning.
        case wildcard
        case invalidPort
        case range(AddressRange.Problem)
        case rangeWithPort
    }

    package let problem: Problem
    /// The entry; nil if it may have a secret in it.
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
