internal import CNetlink
public import DunlinTypes
internal import Glibc

/// The interface that a connection is to be bound to, so that rules about interfaces are kept.
public enum InterfaceChoice: Sendable, Hashable {
    /// The address is on this machine: nothing is bound.
    case unbound
    case through(NetworkInterface)
    /// All routes lead through these interfaces, which the rules refuse.
    case refused([NetworkInterface])
    /// There is no route.
    case none
}

extension RouteFinder {
    /// The interface for a connection to `address`: the kernel's own choice if the rules allow it, and otherwise the
    /// allowed one that has the cheapest route there. `bound` is the interface that the connection is bound to anyway.
    ///
    /// A connection is bound to it also where it is the kernel's choice: routes change, and a connection that outlives
    /// such a change would move on to an interface that was refused.
    public func choice(for address: HTTP.SocketAddress, by rules: NetworkInterface.Rules, bound: String? = nil)
        -> InterfaceChoice
    {
        if case .unix = address { return .unbound }
        let finding = finding(for: address)
        switch finding.way {
        case .unknown: return .refused([])
        case .none where bound == nil: return .none
        case .local: return Self.local(finding.interface, rules)
        case .outward where bound == nil:
            guard let interface = finding.interface else { return .refused([]) }
            return rules.allows(interface) ? .through(interface) : otherRoute(to: address, around: interface, rules)
        case .none, .outward: return otherRoute(to: address, around: nil, rules, within: bound)
        }
    }

    private static func local(_ interface: NetworkInterface?, _ rules: NetworkInterface.Rules) -> InterfaceChoice {
        let loopback = NetworkInterface(name: "lo", index: 1, kind: .loopback)
        // An address of this machine belongs to some interface, but what is sent to it goes through none.
        return rules.allows(loopback) ? .unbound : .refused([interface ?? loopback])
    }

    /// A route through any interface but the one that is refused, or through the one named.
    private func otherRoute(
        to address: HTTP.SocketAddress, around refused: NetworkInterface?, _ rules: NetworkInterface.Rules,
        within name: String? = nil
    ) -> InterfaceChoice {
        do throws(Errno) {
            let candidates = try candidates(to: address).filter { name == nil || $0.interface.name == name }
            let allowed = candidates.filter { rules.allows($0.interface) }
            if let best = allowed.min(by: { ($0.metric, $0.interface.index) < ($1.metric, $1.interface.index) }) {
                return .through(best.interface)
            }
            if candidates.isEmpty, let name { return try unrouted(name, rules) }
            return candidates.isEmpty ? refused.map { .refused([$0]) } ?? .none : .refused(candidates.map(\.interface))
        } catch {
            return .refused(refused.map { [$0] } ?? [])
        }
    }

    /// Without a route through it, the interface that was asked for is still checked: a refusal says more than a
    /// failure.
    private func unrouted(_ name: String, _ rules: NetworkInterface.Rules) throws(Errno) -> InterfaceChoice {
        let interface = try interfaces().first { $0.name == name }
        return interface.flatMap { rules.allows($0) ? nil : .refused([$0]) } ?? .none
    }

    private struct Candidate {
        let interface: NetworkInterface
        let metric: UInt32
    }

    /// Every interface that is up and has a route to the address.
    private func candidates(to address: HTTP.SocketAddress) throws(Errno) -> [Candidate] {
        let socket = try Socket.forNetworkQuestions()
        var candidates: [Candidate] = []
        for link in try links(socket) where link.isUp && link.flags & dunlin_iff_loopback == 0 {
            guard let route = route(to: address, through: link.index, socket) else { continue }
            let interface = NetworkInterface(
                name: link.name, index: Int(link.index), kind: try kind(of: link, socket))
            candidates.append(Candidate(interface: interface, metric: route.metric))
        }
        return candidates
    }

    private func interfaces() throws(Errno) -> [NetworkInterface] {
        let socket = try Socket.forNetworkQuestions()
        var interfaces: [NetworkInterface] = []
        for link in try links(socket) {
            interfaces.append(
                NetworkInterface(name: link.name, index: Int(link.index), kind: try kind(of: link, socket)))
        }
        return interfaces
    }

    private func links(_ socket: borrowing Socket) throws(Errno) -> [LinkReport] {
        let answers = try socket.answers(to: NetlinkRequest.links(sequence: 3), sequence: 3, isDump: true)
        return answers.compactMap { if case .link(let link) = $0 { link } else { nil } }
    }

    private func route(to address: HTTP.SocketAddress, through index: Int32, _ socket: borrowing Socket) -> RouteReport?
    {
        let question = NetlinkRequest.route(to: address, through: index, needsRoute: true, sequence: 4)
        guard let question else { return nil }
        do throws(Errno) {
            guard case .route(let route)? = try socket.answers(to: question, sequence: 4).first,
                Int32(route.type) == Int32(RTN_UNICAST), route.interface == index || route.interface == 0
            else { return nil }
            return route
        } catch {
            return nil
        }
    }
}
