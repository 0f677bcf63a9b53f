public import DunlinTypes

extension Reactor {
    /// Waits that long by the loop's clock. False if `interrupt`, or the awaiting task's cancellation, ended it before.
    public func rest(nanoseconds: Int64, interrupt: Interrupt? = nil) async -> Bool {
        await rest(until: now().advanced(by: nanoseconds), interrupt)
    }

    /// The same until `end`, for a wait that nobody else has to do with: whoever moves a manual clock may skip it.
    public func pause(until end: MonotonicTime, interrupt: Interrupt) async -> Bool {
        guard case .manual(let clock) = time else { return await rest(until: end, interrupt) }
        let id = clock.beginPause(until: end)
        defer { clock.endPause(id) }
        return await rest(until: end, interrupt)
    }

    private func rest(until end: MonotonicTime, _ interrupt: Interrupt?) async -> Bool {
        let parking = Parking<Void>(on: self)
        return await withTaskCancellationHandler {
            if case .timedOut = await parking.wait(until: end, interrupt: interrupt) { true } else { false }
        } onCancel: {
            parking.interrupt()
        }
    }
}
