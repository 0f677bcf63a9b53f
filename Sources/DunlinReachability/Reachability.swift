internal import DunlinReactor
internal import Synchronization

/// Whether there is a route to the network, a host or an address, and over what. A hint, never a promise.
///
/// ```swift
/// for await status in Reachability.shared.statuses {
///     print(status)
/// }
/// ```
///
/// What the kernel would do with a packet is known from its links, addresses and routes; nothing is sent. A route does
/// not mean that the other end answers: only a request can tell. Use this to explain a failure, or to know when another
/// attempt may be worth while; `probing` adds checks of your own.
///
/// Looking begins with the first observer, and ends with the last. While nothing changes, observing costs nothing.
public final class Reachability: Sendable {
    /// Any network: whether there is a route to the internet, beyond all local networks, in either family.
    public static let shared = Reachability()

    private let monitor = SharedWatch<ReachabilityMonitor>()
    private let latest = LatestStatus()
    private let target: ReachabilityMonitor.Target

    /// The source of the status.
    package var source: any Reachability.PathMonitor { target.source }

    private init(_ target: ReachabilityMonitor.Target) {
        self.target = target
    }

    /// Any network, from another source than the system, or with a probe.
    public convenience init(
        source: any Reachability.PathMonitor = Reachability.SystemPathMonitor(), probing probe: Probe? = nil
    ) {
        self.init(ReachabilityMonitor.Target(place: .world, source: source, resolver: nil, probe: probe))
    }

    /// A host: its name is looked up, again after each change of the network, and the best of the routes to its
    /// addresses counts. It is not reachable while its name has no answer.
    public static func host(
        _ name: String, resolver: (any Resolver)? = nil,
        source: any Reachability.PathMonitor = Reachability.SystemPathMonitor(),
        probing probe: Probe? = nil
    ) -> Reachability {
        let place =
            HTTP.SocketAddress(numericHost: name, port: 0).map { ReachabilityMonitor.Place.address($0) } ?? .host(name)
        return Reachability(
            ReachabilityMonitor.Target(
                place: place, source: source, resolver: resolver ?? SystemResolver.shared, probe: probe))
    }

    /// One address; its port is ignored. An address of this machine is always reachable.
    public static func address(
        _ address: HTTP.SocketAddress, source: any Reachability.PathMonitor = Reachability.SystemPathMonitor(),
        probing probe: Probe? = nil
    ) -> Reachability {
        Reachability(ReachabilityMonitor.Target(place: .address(address), source: source, resolver: nil, probe: probe))
    }

    deinit {
        stop()
    }

    /// The status that was known last. It follows the network only while there are observers, and is `unknown` before
    /// there were any.
    public var status: Reachability.Status { latest.status }

    /// Whether the status is one of those with a route; false while it is unknown.
    public var isReachable: Bool { status.isReachable }

    /// The present status, once that has been found out, then each different one; a slow observer gets the newest.
    /// `unknown` comes only where the system does not say. There may be any number of observers. The stream ends with
    /// `stop()`, and with this object.
    public var statuses: AsyncStream<Reachability.Status> {
        let monitor = watch()
        return AsyncStream(knowing: ReachabilityMonitor.Observation?.none) { known in
            await monitor?.observation(after: known?.version)
        } tell: { known, observation in
            defer { known = observation }
            let status = observation.value.path.status
            return status == known?.value.path.status ? nil : status
        }
    }

    /// The result of every look, whether or not anything has changed: with the interface, and all there is to know.
    public var paths: AsyncStream<Reachability.Path> {
        let monitor = watch()
        return AsyncStream(knowing: nil) { version in
            await monitor?.observation(after: version)
        } tell: { version, observation in
            version = observation.version
            return observation.value.path
        }
    }

    /// Waits until the status is known: use it to ask once. Throws `CancellationError` when the awaiting task is
    /// cancelled, and when `stop()` comes before an answer.
    public func firstKnownStatus() async throws -> Reachability.Status {
        for await status in statuses where status != .unknown { return status }
        throw CancellationError()
    }

    /// Waits until there is a route; returns at once if there is. Throws as `firstKnownStatus` does.
    public func waitUntilReachable() async throws {
        for await status in statuses where status.isReachable { return }
        throw CancellationError()
    }

    /// Ends every stream; they give nothing more, not even what was found before. A later observer begins anew.
    public func stop() {
        monitor.part()?.end()
    }

    /// Whether somebody watches.
    public var isObserved: Bool { monitor.isObserved }

    /// Nil if the system has no thread left for a loop.
    private func watch() -> ReachabilityMonitor? {
        guard let loop = ReachabilityMonitor.loop else { return nil }
        return monitor.join {
            latest.status = .unknown
            return ReachabilityMonitor(target, latest, on: loop)
        }
    }
}

/// The status that is known, also when nobody looks any more.
final class LatestStatus: Sendable {
    private let value = Atomic<Int>(Reachability.Status.unknown.rawValue)

    var status: Reachability.Status {
        get { Reachability.Status(rawValue: value.load(ordering: .relaxed)) ?? .unknown }
        set { value.store(newValue.rawValue, ordering: .relaxed) }
    }
}
