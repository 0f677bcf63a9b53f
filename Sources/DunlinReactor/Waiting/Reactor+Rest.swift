public import DunlinTypes

extension Reactor {
    /// Waits that long by the loop's clock. False if `cancellation`, or that of the awaiting task, ended it before.
    public func rest(nanoseconds: Int64, cancellation: Cancellation? = nil) async -> Bool {
        await rest(until: now().advanced(by: nanoseconds), cancellation)
    }

    /// Waits until `end` for nothing but time, so that whoever moves a manual clock may skip it.
    public func pause(until end: HTTP.Instant, cancellation: Cancellation) async -> Bool {
        guard case .manual(let clock) = time else { return await rest(until: end, cancellation) }
        let id = clock.beginPause(until: end)
        defer { clock.endPause(id) }
        return await rest(until: end, cancellation)
    }

    private func rest(until end: HTTP.Instant, _ cancellation: Cancellation?) async -> Bool {
        let waiter = ValueWaiter<Void>(on: self)
        return await withTaskCancellationHandler {
            if case .timedOut = await waiter.wait(until: end, cancellation: cancellation) { true } else { false }
        } onCancel: {
            waiter.cancel()
        }
    }
}
