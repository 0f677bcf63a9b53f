internal import Dunlin

/// The times at which receipts fail because they had to wait too long.
extension ImageDownloader {
    /// Begins the time limits of a download's waiters.
    func turned(_ id: UInt64) {
        machine.turn(of: id, at: session.loopTime)
        setAlarm()
    }

    /// Updates the alarm. Call it whenever the machine has changed.
    func setAlarm() {
        guard let time = machine.nextLook else {
            alarm = nil
            return
        }
        if alarm == nil {
            alarm = LoopAlarm(on: session) { [reference] in reference.events.yield(.expire) }
        }
        alarm?.set(time)
    }

    func expire() {
        let now = session.loopTime
        var actions: [ImageDownloadMachine<SharedDownload>.Action] = []
        for late in machine.late(at: now) {
            if let waiter = waiting[late.waiter] { waiter.state.settle(.failure(failure(of: waiter, late, at: now))) }
            actions += remove(late.waiter)
        }
        // Only after all have left: until then the alarm would ring at once.
        perform(actions + machine.stopLate(at: now))
    }

    private func failure(
        of waiter: Waiting, _ late: ImageDownloadMachine<SharedDownload>.Late, at now: HTTP.Instant
    ) -> NetworkError {
        var error: NetworkError
        if late.start == nil {
            let wait =
                late.isRunning
                ? "in the session's request queue"
                : "for the download's turn: `maximumActive` is \(configuration.maximumActive)"
            let reason = "timed out waiting \(wait); the deadline of the enclosing `withTimeout` has passed"
            error = late.limit.failure(
                reason, from: nil, at: now, phase: .pool, requestMayHaveBeenSent: late.isRunning)
        } else {
            let phase: HTTP.Phase? = downloads[late.download]?.progress == nil ? nil : .receive
            error = late.limit.failure(from: late.start, at: now, phase: phase, requestMayHaveBeenSent: true)
        }
        error.request = waiter.request.name
        return error
    }
}
