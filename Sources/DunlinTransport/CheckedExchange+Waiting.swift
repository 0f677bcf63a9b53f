internal import DunlinReactor
package import DunlinTypes

extension CheckedExchange {
    /// Runs work that somebody waits for in `phase`, within that phase's limit. Time during which the transfer is
    /// suspended does not count. The session enforces the call's own deadline.
    package func wait<Value: Sendable>(
        in phase: HTTP.Phase, since start: HTTP.Instant, _ hop: HTTP.Hop? = nil,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let hop = hop ?? self.hop
        do {
            return try await waitWithinLimit(in: phase, since: start, hop, work)
        } catch {
            throw located(error, hop, in: phase)
        }
    }

    /// An error that was made up as an answer, with the hop of this exchange, so that metrics report it like a
    /// socket's. An error of another type leaves the hop to them.
    private func located(_ error: any Error, _ hop: HTTP.Hop, in phase: HTTP.Phase) -> any Error {
        guard let failure = error as? NetworkError else { return located(error, ended(hop, in: phase)) }
        guard failure.hop == nil else { return error }
        let sent = failure.requestMayHaveBeenSent ? hop : context.hop
        return located(error, ended(sent, in: failure.phase ?? phase))
    }

    func ended(_ hop: HTTP.Hop, in phase: HTTP.Phase) -> HTTP.Hop {
        var hop = hop
        hop.ended = now()
        hop.fill(phase)
        return hop
    }

    /// The error with this hop. An error from sending the body has no hop, or another request's, which this one
    /// replaces.
    func located(_ error: any Error, _ hop: HTTP.Hop) -> any Error {
        scope.note(hop)
        guard var failure = error as? NetworkError else {
            context.control?.untoldHop = hop
            return error
        }
        failure.hop = hop
        return failure
    }

    private func waitWithinLimit<Value: Sendable>(
        in phase: HTTP.Phase, since start: HTTP.Instant, _ hop: HTTP.Hop,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if deadline(of: phase, since: start) == .never { return try await work() }
        return try await withThrowingTaskGroup(of: Ended<Value>.self) { group in
            group.addTask {
                let value = try await work()
                return .done(value, isLate: deadline(of: phase, since: start) <= now())
            }
            group.addTask {
                try await waitForLimit(of: phase, since: start)
                return .exceeded
            }
            defer { group.cancelAll() }
            // If both end at the same moment, the clock decides and not who was woken first.
            if case .done(let value, isLate: false)? = try await group.next() { return value }
            throw context.timedOut(phase, since: start, hop)
        }
    }

    private enum Ended<Value: Sendable>: Sendable {
        case done(Value, isLate: Bool)
        case exceeded
    }

    /// Returns when the limit is exceeded.
    private func waitForLimit(of phase: HTTP.Phase, since start: HTTP.Instant) async throws {
        while true {
            if let control = context.control { _ = await control.pass(until: .never) }
            try Task.checkCancellation()
            let deadline = deadline(of: phase, since: start)
            if deadline <= now() { return }
            let waiter = ValueWaiter<Void>(on: context.clock.reactor)
            _ = await withTaskCancellationHandler {
                await waiter.wait(until: deadline, cancellation: nil)
            } onCancel: {
                waiter.cancel()
            }
        }
    }

    private func deadline(of phase: HTTP.Phase, since start: HTTP.Instant) -> HTTP.Instant {
        let held = context.control?.suspendedTime(since: start) ?? 0
        let own = context.clock.ownDeadline(for: phase, from: start.advanced(by: held))
        return own < context.clock.whole ? own : .never
    }
}
