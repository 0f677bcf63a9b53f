internal import DunlinReactor
internal import DunlinRules
internal import DunlinTransport

extension HTTPSession {
    /// What the session is at now.
    ///
    /// It asks each of the session's loops for its requests, then counts the connections, so it waits for a turn of
    /// each loop, and takes longer the more origins there are. Each part is true of one moment; requests come and go
    /// between two parts. `connections` is the sum of all connections without a wait.
    public func gauges() async -> Gauges { await core.gauges() }

    /// What the session is at now, and again at every interval, by the session's clock.
    ///
    /// An observer that does not keep up misses snapshots and gets the newest: each is taken when it is asked for.
    /// Between them nothing is done. Intervals shorter than a millisecond are one. The stream ends when the session is
    /// shut down, restarted or released, which it does not prevent, and when the iterating task is cancelled.
    public func gauges(every interval: Duration) -> AsyncStream<Gauges> {
        let (loop, end) = (core.loops[0], Cancellation(partOf: core.tasks.chain.end))
        return AsyncStream(knowing: GaugeTicks(every: interval)) { [weak core] ticks -> (Gauges, HTTP.Instant)? in
            guard await end.isAhead(at: ticks.next, on: loop), let core else { return nil }
            let now = loop.now()
            return (await core.gauges(), now)
        } tell: { ticks, observation in
            ticks.took(at: observation.1)
            return observation.0
        }
    }
}

extension Cancellation {
    /// Waits until `time`, and says whether neither this nor the awaiting task was cancelled before.
    fileprivate func isAhead(at time: HTTP.Instant, on loop: Reactor) async -> Bool {
        let waiter = ValueWaiter<Void>(on: loop)
        return await withTaskCancellationHandler {
            if loop.now() >= time { return cause == nil && !Task.isCancelled }
            if case .timedOut = await waiter.wait(until: time, cancellation: self) { return true }
            return false
        } onCancel: {
            waiter.cancel()
        }
    }
}

extension SessionCore {
    fileprivate func gauges() async -> HTTPSession.Gauges {
        var gauges = HTTPSession.Gauges()
        gauges.running = await tasks.count
        gauges.queued = queue?.waiting ?? 0
        let chain = tasks.chain
        gauges.pool = chain.callTransport.sockets.map { HTTPSession.Gauges.Pool($0.counts) }
        for case let stage as CoalescingStage in chain.stages { gauges.coalesced += stage.exchanges.waiting }
        gauges.cache = configuration.cache?.gauges
        gauges.retriesLeft = chain.settings.retries.left(at: loops[0].now())
        return gauges
    }
}

extension HTTPSession.Gauges.Pool {
    fileprivate init(_ counts: PoolCounts) {
        for (origin, gauges) in counts.origins {
            origins[Self.name(of: origin), default: HTTP.ConnectionGauges()] += gauges
        }
        others = counts.others
    }

    private static func name(of origin: HTTP.Origin) -> String {
        guard let route = origin.route else { return origin.description }
        if let name = route.terms?.name(of: origin) { return name }
        guard let address = route.address else { return origin.description }
        return "\(origin) via \(VisibleText.of("\(address)"))"
    }
}
