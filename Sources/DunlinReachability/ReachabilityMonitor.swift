internal import DunlinReactor

/// Observes one target as long as somebody retains it: asks as `ReachabilityMachine` decides, and publishes the
/// results.
final class ReachabilityMonitor: Sendable {
    enum Destination: Sendable {
        case world
        case host(String)
        case address(HTTP.SocketAddress)
    }

    struct Target: Sendable {
        let destination: Destination
        let source: any Reachability.PathMonitor
        /// The resolver of a host's name.
        let resolver: (any Resolver)?
        let probe: Reachability.Probe?

        /// `source` is nil for the kernel.
        init(
            destination: Destination, source: (any Reachability.PathMonitor)?, resolver: (any Resolver)?,
            probe: Reachability.Probe?
        ) {
            (self.destination, self.source) = (destination, source ?? Reachability.SystemPathMonitor())
            (self.resolver, self.probe) = (resolver, probe)
        }
    }

    struct Observation: Sendable, Equatable {
        var path = Reachability.Path.unknown
        /// The number of the look, so that each look is a change.
        var number = 0
        /// Whether observation is over; this value itself is not delivered.
        var isOver = false
    }

    /// An observation and its version.
    typealias NumberedObservation = (value: Observation, version: UInt64)

    static var loop: Reactor? {
        do { return try ReactorGroup.shared.reactors().first } catch { return nil }
    }

    private let observations: ObservableValue<Observation>
    private let looking: Task<Void, Never>

    init(_ target: Target, _ latest: LatestStatus, on loop: Reactor) {
        let observations = ObservableValue(Observation(), on: loop)
        self.observations = observations
        // The task retains the value and not its observers: it is cancelled when they are gone.
        looking = Task.detached(executorPreference: loop) {
            await ReachabilityDriver(target: target, loop: loop, latest: latest, observations: observations).run()
        }
    }

    deinit {
        looking.cancel()
    }

    func end() {
        looking.cancel()
        observations.change(isLast: true) { $0.isOver = true }
    }

    /// The newest observation after `version`, once there is one; nil if observation is over or the awaiting task is
    /// cancelled.
    func observation(after version: UInt64?) async -> NumberedObservation? {
        // Version 0 means that there was no look yet.
        guard let observation = await observations.value(after: version ?? 0), !observation.value.isOver else {
            return nil
        }
        return observation
    }
}

/// Drives the machine until it is cancelled.
private struct ReachabilityDriver: Sendable {
    typealias Machine = ReachabilityMachine

    let target: ReachabilityMonitor.Target
    let loop: Reactor
    let latest: LatestStatus
    let observations: ObservableValue<ReachabilityMonitor.Observation>

    func run() async {
        let (events, continuation) = AsyncStream.makeStream(of: Machine.Event.self)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in target.source.changes() { continuation.yield(.changed) }
            }
            var machine = Machine(probeInterval: target.probe?.interval)
            // Cancels what an earlier look still waits for.
            var cancellation = Cancellation()
            for await event in events {
                for action in machine.take(event) {
                    if case .look = action {
                        cancellation.cancel(.handle)
                        cancellation = Cancellation()
                    }
                    if case .tell(let path) = action {
                        tell(path)
                        continue
                    }
                    group.addTask { [cancellation] in
                        if let event = await perform(action, cancellation) { continuation.yield(event) }
                    }
                }
            }
            cancellation.cancel(.handle)
            group.cancelAll()
        }
    }

    private func tell(_ path: Reachability.Path) {
        observations.change { observation in
            if observation.isOver || Task.isCancelled { return }
            observation.path = path
            observation.number += 1
            latest.status = path.status
        }
    }

    /// Performs an action. Returns its result, if it has one.
    private func perform(_ action: Machine.Action, _ cancellation: Cancellation) async -> Machine.Event? {
        switch action {
        case .tell: nil
        case .look(let look): await self.look(look, cancellation)
        case .probe(let look): await probe(cancellation).map { .probed($0, look: look) }
        case .rest(let pause, let look):
            await loop.rest(nanoseconds: pause.clampedNanoseconds, cancellation: cancellation)
                ? .rested(look: look) : nil
        }
    }

    private func look(_ look: UInt64, _ cancellation: Cancellation) async -> Machine.Event? {
        switch target.destination {
        case .world: return .found(await target.source.path(to: nil), look: look)
        case .address(let address): return .found(await path(to: address), look: look)
        case .host(let name):
            guard let addresses = await addresses(of: name, cancellation) else { return nil }
            guard !addresses.isEmpty else { return .nameless(look: look) }
            var paths: [Reachability.Path] = []
            for address in addresses { paths.append(await path(to: address)) }
            return .found(paths.first { $0.status.isReachable } ?? paths[0], look: look)
        }
    }

    private func path(to address: HTTP.SocketAddress) async -> Reachability.Path {
        // There is no network between a machine and itself, whatever the source says.
        if address.isLoopback {
            let interface = NetworkInterface(name: "lo", index: 1, kind: .loopback)
            return Reachability.Path(flags: [.reachable, .isLocalAddress], interface: interface)
        }
        return await target.source.path(to: address)
    }

    /// The name's addresses; empty if the name has no answer, nil if they are no longer wanted.
    private func addresses(of name: String, _ cancellation: Cancellation) async -> [HTTP.SocketAddress]? {
        guard let resolver = target.resolver else { return [] }
        do {
            return try await Race.run(until: .never, cancellation, on: loop) {
                try await resolver.addresses(of: name, port: 0)
            }
        } catch {
            return cancellation.cause != nil || Task.isCancelled ? nil : []
        }
    }

    /// Runs the probe; nil if the result is no longer wanted. A probe that throws counts as no answer.
    private func probe(_ cancellation: Cancellation) async -> Bool? {
        guard let probe = target.probe else { return nil }
        do {
            return try await Race.run(until: .never, cancellation, on: loop) { try await probe.check() }
        } catch {
            return cancellation.cause != nil || Task.isCancelled ? nil : false
        }
    }
}
