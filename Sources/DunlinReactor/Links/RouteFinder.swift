internal import CNetlink
public import DunlinTypes
internal import Glibc

/// Asks the kernel for its route to an address. It asks anew each time, because routes change.
///
/// It may wait for the kernel's lock on links, and reads a few small files: call it where waiting is allowed, such as
/// on `DiskThreads`.
public struct RouteFinder: Sendable {
    private let files: LinkFiles
    private let tables: @Sendable () -> ProcRoutes?
    private let opensSocket: Bool

    public init() {
        self.init(files: LinkFiles(), tables: { ProcRoutes.read() }, opensSocket: true)
    }

    /// Creates a finder. `opensSocket`: whether the kernel is asked before its tables are read.
    package init(files: LinkFiles, tables: @escaping @Sendable () -> ProcRoutes?, opensSocket: Bool) {
        self.files = files
        self.tables = tables
        self.opensSocket = opensSocket
    }

    /// Addresses that stand for the internet, beyond every local network. They are two of the root name servers, which
    /// no network has as its own and no route is made for alone. Nothing is sent to them.
    package static let world: [HTTP.SocketAddress] = [
        .v4(0xC629_0004, port: 0), .v6(0x2001_0503_BA3E_0000, 0x0000_0000_0002_0030, port: 0),
    ]

    /// The route to an address, or to the internet for nil: in whichever family there is one, IPv4 first.
    public func finding(for address: HTTP.SocketAddress?) -> RouteFinding {
        guard let address else {
            let findings = Self.world.map { finding(for: $0) }
            return findings.first { $0.leadsOut } ?? findings.first { $0.way != .none } ?? findings[0]
        }
        if address.isLoopback { return RouteFinding(.local, through: .loopback) }
        guard opensSocket else { return tableFinding(for: address) }
        do throws(Errno) {
            return try kernelFinding(for: address)
        } catch {
            return error.meansNoNetlink
                ? tableFinding(for: address) : RouteFinding(error.meansNoRoute ? .none : .unknown)
        }
    }
}

extension NetworkInterface {
    fileprivate static let loopback = NetworkInterface(name: "lo", index: 1, kind: .loopback)
}

extension RouteFinding {
    fileprivate var leadsOut: Bool { way == .outward && isUp && hasSource }
}

extension Errno {
    /// Whether there are no such sockets here, or no permission to open one or to ask it.
    fileprivate var meansNoNetlink: Bool {
        [EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ENOSYS, EOPNOTSUPP, ESOCKTNOSUPPORT].contains(rawValue)
    }

    /// Whether there is no route; a family that is missing gives the same answer.
    fileprivate var meansNoRoute: Bool {
        [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL, ENODEV, ESRCH, EINVAL].contains(rawValue)
    }
}

// MARK: - From the kernel

extension RouteFinder {
    private func kernelFinding(for address: HTTP.SocketAddress) throws(Errno) -> RouteFinding {
        let socket = try Socket.forNetworkQuestions()
        guard let question = NetlinkRequest.route(to: address, sequence: 1) else { return RouteFinding(.local) }
        guard case .route(let route)? = try socket.answers(to: question, sequence: 1).first else {
            return RouteFinding(.unknown)
        }
        return try finding(along: route, to: address, socket)
    }

    private func finding(
        along route: RouteReport, to address: HTTP.SocketAddress, _ socket: borrowing Socket
    ) throws(Errno) -> RouteFinding {
        let isLocal = Int32(route.type) == Int32(RTN_LOCAL)
        guard isLocal || Int32(route.type) == Int32(RTN_UNICAST) else { return RouteFinding(.none) }
        guard let link = try link(route.interface, socket) else { return RouteFinding(.none) }
        return finding(isLocal, through: link, from: route.source, to: address, kind: try kind(of: link, socket))
    }

    private func finding(
        _ isLocal: Bool, through link: LinkReport, from source: HTTP.SocketAddress?, to address: HTTP.SocketAddress,
        kind: NetworkInterface.Kind
    ) -> RouteFinding {
        let interface = NetworkInterface(name: link.name, index: Int(link.index), kind: kind)
        var finding = RouteFinding(isLocal || kind == .loopback ? .local : .outward, through: interface)
        finding.isUp = link.isUp
        finding.isDormant = link.state == dunlin_operstate_dormant
        finding.isPointToPoint = link.flags & dunlin_iff_point_to_point != 0
        // With a link-local source address no packet gets farther than the next router. In IPv4 some networks translate
        // such addresses, as of containers.
        let isStranded = source.map { $0.isUnspecified || ($0.isSix && $0.isLinkLocal && !address.isLinkLocal) }
        finding.hasSource = isLocal || isStranded == false
        return finding
    }

    private func link(_ index: Int32, _ socket: borrowing Socket) throws(Errno) -> LinkReport? {
        guard index > 0 else { return nil }
        let question = NetlinkRequest.link(index, sequence: 2)
        guard case .link(let link)? = try socket.answers(to: question, sequence: 2).first else { return nil }
        return link
    }

    /// The kind of a link. A link on top of another has that one's kind: a VLAN on a radio is a radio.
    func kind(of link: LinkReport, _ socket: borrowing Socket) throws(Errno) -> NetworkInterface.Kind {
        var link = link
        // Links may be piled up, but hardly higher.
        for _ in 0..<4 {
            let kind = files.kind(of: link)
            guard kind == .wired, let lower = link.lower else { return kind }
            do throws(Errno) {
                guard let next = try self.link(lower, socket) else { return kind }
                link = next
            } catch {
                return kind
            }
        }
        return files.kind(of: link)
    }
}

extension LinkReport {
    /// Whether the link is up. The kernel says "running" of a link whose state is up, and of one without a state.
    var isUp: Bool {
        let both = dunlin_iff_up | dunlin_iff_running
        return flags & both == both
    }
}

extension HTTP.SocketAddress {
    fileprivate var isSix: Bool {
        if case .v6 = self { true } else { false }
    }
}

// MARK: - From tables

extension RouteFinder {
    private func tableFinding(for address: HTTP.SocketAddress) -> RouteFinding {
        guard let tables = tables() else { return RouteFinding(.unknown) }
        guard let way = tables.way(to: address), way.leadsSomewhere else { return RouteFinding(.none) }
        let link = LinkReport(index: 0, flags: 0, hardware: 1, name: way.interface)
        let interface = NetworkInterface(name: way.interface, kind: files.kind(of: link))
        var finding = RouteFinding(way.interface == "lo" ? .local : .outward, through: interface)
        finding.isUp = files.isUp(way.interface) ?? true
        return finding
    }
}

extension ProcRoutes {
    private static let paths = ["/proc/net/route", "/proc/net/ipv6_route"]

    /// What the tables say now; nil if neither can be read.
    package static func read() -> ProcRoutes? {
        let texts = paths.map(LinkFiles.text(of:))
        if texts.allSatisfy({ $0 == nil }) { return nil }
        return ProcRoutes(four: texts[0] ?? "", six: texts[1] ?? "")
    }
}

/// The state to compare where changes are not reported.
package struct LinkPicture: Sendable, Equatable {
    let routes: ProcRoutes?
    /// The state of each link by its name.
    let states: [String: String]

    package init(routes: ProcRoutes? = nil, states: [String: String] = [:]) {
        self.routes = routes
        self.states = states
    }

    static func taken() -> LinkPicture { LinkPicture(routes: .read(), states: LinkFiles().states()) }
}
