internal import DunlinReactor

/// Watches one target for as long as somebody holds it: asks, by the rules of `ReachabilityMachine`, and writes down
/// what it sees.
final class Vigil: Sendable {
    enum Place: Sendable {
        case world
        case host(String)
        case address(SocketAddress)
    }

    struct Target: Sendable {
        let place: Place
        let source: any NetworkPathSource
        /// Of a host.
        let resolver: (any Resolver)?
        let probe: Reachability.Probe?
    }

    struct Sighting: Sendable, Equatable {
        var path = NetworkPath.unknown
        /// Counts the looks, so that each is news.
        var number = 0
        /// Nothing comes any more, and nobody gets this.
        var isOver = false
    }

    /// What was seen, and its number in the bulletin.
    typealias Sight = (value: Sighting, version: UInt64)

    static var loop: Reactor? {
        do { return try ReactorGroup.shared.reactors().first } catch { return nil }
    }

    private let sightings: Bulletin<Sighting>
    private let looking: Task<Void, Never>

    init(_ target: Target, _ latest: LatestStatus, on loop: Reactor) {
        let sightings = Bulletin(Sighting(), on: loop)
        self.sightings = sightings
        // Holds what it writes to, not who reads: it is cancelled when they are gone.
        looking = Task(executorPreference: loop) {
            await Lookout(target: target, loop: loop, latest: latest, sightings: sightings).run()
        }
    }

    deinit {
        looking.cancel()
    }

    func end() {
        looking.cancel()
        sightings.change(isLast: true) { $0.isOver = true }
    }

    /// The newest, once there is one. Nil when it is over, or the awaiting task is cancelled.
    func sighting(after version: UInt64?) async -> Sight? {
        // At version 0 nobody has looked yet.
        guard let sight = await sightings.value(after: version ?? 0), !sight.value.isOver else { return nil }
        return sight
    }
}

/// Drives the machine until it is cancelled.
private struct Lookout: Sendable {
    typealias Machine = ReachabilityMachine

    let target: Vigil.Target
    let loop: Reactor
    let latest: LatestStatus
    let sightings: Bulletin<Vigil.Sighting>

    func run() async {
        let (events, continuation) = AsyncStream.makeStream(of: Machine.Event.self)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in target.source.changes() { continuation.yield(.changed) }
            }
            var machine = Machine(probeInterval: target.probe?.interval)
            // Ends what an earlier look still waits for.
            var interrupt = Interrupt()
            for await event in events {
                for action in machine.take(event) {
                    if case .look = action {
                        interrupt.cancel(.handle)
                        interrupt = Interrupt()
                    }
                    if case .tell(let path) = action {
                        tell(path)
                        continue
                    }
                    group.addTask { [interrupt] in
                        if let event = await perform(action, interrupt) { continuation.yield(event) }
                    }
                }
            }
            interrupt.cancel(.handle)
            group.cancelAll()
        }
    }

    private func tell(_ path: NetworkPath) {
        sightings.change { sighting in
            if sighting.isOver || Task.isCancelled { return }
            sighting.path = path
            sighting.number += 1
            latest.status = path.status
        }
    }

    /// What came of it, if anything.
    private func perform(_ action: Machine.Action, _ interrupt: Interrupt) async -> Machine.Event? {
        switch action {
        case .tell: nil
        case .look(let look): await self.look(look, interrupt)
        case .probe(let look): await probe(interrupt).map { .probed($0, look: look) }
        case .rest(let pause, let look):
            await loop.rest(nanoseconds: pause.clampedNanoseconds, interrupt: interrupt) ? .rested(look: look) : nil
        }
    }

    private func look(_ look: UInt64, _ interrupt: Interrupt) async -> Machine.Event? {
        switch target.place {
        case .world: return .found(await target.source.path(to: nil), look: look)
        case .address(let address): return .found(await path(to: address), look: look)
        case .host(let name):
            guard let addresses = await addresses(of: name, interrupt) else { return nil }
            guard !addresses.isEmpty else { return .nameless(look: look) }
            var paths: [NetworkPath] = []
            for address in addresses { paths.append(await path(to: address)) }
            return .found(paths.first { $0.status.isReachable } ?? paths[0], look: look)
        }
    }

    private func path(to address: SocketAddress) async -> NetworkPath {
        // Whatever the source may be: there is no network between a machine and itself.
        if address.isLoopback {
            let interface = NetworkInterface(name: "lo", index: 1, kind: .loopback)
            return NetworkPath(flags: [.reachable, .isLocalAddress], interface: interface)
        }
        return await target.source.path(to: address)
    }

    /// None if the name has no answer; nil if nobody wants one any more.
    private func addresses(of name: String, _ interrupt: Interrupt) async -> [SocketAddress]? {
        guard let resolver = target.resolver else { return [] }
        do {
            return try await Race.run(until: .never, interrupt, on: loop) {
                try await resolver.addresses(of: name, port: 0)
            }
        } catch {
            return interrupt.cause != nil || Task.isCancelled ? nil : []
        }
    }

    /// Nil if nobody wants to know any more. A probe that throws found nobody.
    private func probe(_ interrupt: Interrupt) async -> Bool? {
        guard let probe = target.probe else { return nil }
        do {
            return try await Race.run(until: .never, interrupt, on: loop) { try await probe.check() }
        } catch {
            return interrupt.cause != nil || Task.isCancelled ? nil : false
        }
    }
}
