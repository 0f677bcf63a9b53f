internal import DunlinTypes

extension Reactor {
    /// Waits that long by the loop's clock. False if `interrupt`, or the awaiting task's cancellation, ended it before.
    public func rest(nanoseconds: Int64, interrupt: Interrupt? = nil) async -> Bool {
        let parking = Parking<Void>(on: self)
        let end = now().advanced(by: nanoseconds)
        return await withTaskCancellationHandler {
            if case .timedOut = await parking.wait(until: end, interrupt: interrupt) { true } else { false }
        } onCancel: {
            parking.interrupt()
        }
    }
}
