internal import DunlinReactor
internal import DunlinRules
internal import DunlinTransport

extension HTTPSession {
    /// Returns the session's current numbers.
    ///
    /// It asks each of the session's loops for its requests, then counts the connections. So it waits for each loop
    /// once, and takes longer with more origins. Each part is correct for one moment, but requests come and go between
    /// parts. `connections` gives the total of all connections without waiting.
    public func gauges() async -> Gauges { await core.gauges() }

    /// Returns the session's numbers now and at every interval, by the session's clock.
    ///
    /// A snapshot is taken when it is requested, so a slow observer misses some and gets the newest. Between snapshots
    /// nothing is done. Shorter intervals than a millisecond count as one. The stream ends when the session is shut
    /// down, restarted or released (it does not retain the session), and when the iterating task is cancelled.
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
    /// Waits until `time`. Returns whether neither this nor the awaiting task was cancelled first.
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
        gauges.requests = await tasks.count
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
