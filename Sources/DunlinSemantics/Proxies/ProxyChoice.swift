/// How to reach an origin.
package enum ProxyChoice: Sendable, Hashable {
    case direct
    case proxy(ProxyAddress)
}

extension ProxyChoice: CustomStringConvertible {
    package var description: String {
        switch self {
        case .direct: "direct"
        case .proxy(let address): address.description
        }
    }
}
