internal import DunlinReactor
internal import Synchronization

/// Observes whether there is a route to the network, a host or an address, and by which kind of interface. The result
/// is a hint and never a promise.
///
/// ```swift
/// for await status in Reachability.shared.statuses {
///     print(status)
/// }
/// ```
///
/// The kernel's links, addresses and routes show what it would do with a packet; nothing is sent. A route does not mean
/// that the other end answers: only a request can tell. Use this to explain a failure, or to learn when another attempt
/// may be worthwhile; `probing` adds checks of your own.
///
/// Observation begins with the first observer and ends with the last. While nothing changes, it costs nothing.
public final class Reachability: Sendable {
    /// The reachability of any network: whether there is a route to the internet, beyond all local networks, by IPv4 or
    /// IPv6.
    public static let shared = Reachability()

    private let monitor = SharedMonitor<ReachabilityMonitor>()
    private let latest = LatestStatus()
    private let target: ReachabilityMonitor.Target

    /// The source of the status.
    package var source: any Reachability.PathMonitor { target.source }

    private init(_ target: ReachabilityMonitor.Target) {
        self.target = target
    }

    /// Observes any network, with another source than the system, which nil stands for, or with a probe.
    public convenience init(
        source: (any Reachability.PathMonitor)? = nil, probing probe: Probe? = nil
    ) {
        self.init(ReachabilityMonitor.Target(destination: .world, source: source, resolver: nil, probe: probe))
    }

    /// Observes a host. Its name is looked up, again after each change of the network, and the best route to any of its
    /// addresses counts. It is not reachable while its name has no answer.
    public static func host(
        _ name: String, resolver: (any Resolver)? = nil,
        source: (any Reachability.PathMonitor)? = nil, probing probe: Probe? = nil
    ) -> Reachability {
        let destination =
            HTTP.SocketAddress(numericHost: name, port: 0).map { ReachabilityMonitor.Destination.address($0) }
            ?? .host(name)
        return Reachability(
            ReachabilityMonitor.Target(
                destination: destination, source: source, resolver: resolver ?? SystemResolver.shared, probe: probe))
    }

    /// Observes one address; its port is ignored. An address of this machine is always reachable.
    public static func address(
        _ address: HTTP.SocketAddress, source: (any Reachability.PathMonitor)? = nil,
        probing probe: Probe? = nil
    ) -> Reachability {
        Reachability(
            ReachabilityMonitor.Target(destination: .address(address), source: source, resolver: nil, probe: probe))
    }

    deinit {
        stop()
    }

    /// The last known status. It is updated only while there are observers, and `unknown` before there were any.
    public var status: Reachability.Status { latest.status }

    /// Whether the status means that there is a route; false while it is unknown.
    public var isReachable: Bool { status.isReachable }

    /// The current status once it is known, then each different one; a slow observer gets the newest. `unknown` comes
    /// only if the system does not say. Any number of observers is allowed. The stream ends with `stop()` or when this
    /// object is released.
    public var statuses: AsyncStream<Reachability.Status> {
        let monitor = joinMonitor()
        return AsyncStream(knowing: ReachabilityMonitor.NumberedObservation?.none) { known in
            await monitor?.observation(after: known?.version)
        } tell: { known, observation in
            defer { known = observation }
            let status = observation.value.path.status
            return status == known?.value.path.status ? nil : status
        }
    }

    /// The full result of every observation, with the interface, whether or not anything changed.
    public var paths: AsyncStream<Reachability.Path> {
        let monitor = joinMonitor()
        return AsyncStream(knowing: nil) { version in
            await monitor?.observation(after: version)
        } tell: { version, observation in
            version = observation.version
            return observation.value.path
        }
    }

    /// Waits until the status is known; use it to ask once. Throws `CancellationError` if the awaiting task is
    /// cancelled, or if `stop()` is called before there is an answer.
    public func firstKnownStatus() async throws -> Reachability.Status {
        for await status in statuses where status != .unknown { return status }
        throw CancellationError()
    }

    /// Waits until there is a route; returns at once if there is. Throws like `firstKnownStatus`.
    public func waitUntilReachable() async throws {
        for await status in statuses where status.isReachable { return }
        throw CancellationError()
    }

    /// Ends every stream at once, without delivering what was found before. Later observers begin anew.
    public func stop() {
        monitor.detach()?.end()
    }

    /// Whether there are observers.
    public var isObserved: Bool { monitor.isObserved }

    /// The monitor, begun if necessary; nil if the system has no thread left for a loop.
    private func joinMonitor() -> ReachabilityMonitor? {
        guard let loop = ReachabilityMonitor.loop else { return nil }
        return monitor.join {
            latest.status = .unknown
            return ReachabilityMonitor(target, latest, on: loop)
        }
    }
}

/// The last known status, which stays when nobody observes any more.
final class LatestStatus: Sendable {
    private let value = Atomic<Int>(Reachability.Status.unknown.rawValue)

    var status: Reachability.Status {
        get { Reachability.Status(rawValue: value.load(ordering: .relaxed)) ?? .unknown }
        set { value.store(newValue.rawValue, ordering: .relaxed) }
    }
}
