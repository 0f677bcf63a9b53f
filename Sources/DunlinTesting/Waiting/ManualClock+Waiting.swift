internal import DunlinReactor

extension ManualClock {
    /// Waits until at least `count` requests wait on a session's loop for something that a timeout will end: a
    /// connection, a byte, or the end of an exchange over another transport.
    public func waitForDeadlines(_ count: Int = 1, within limit: Duration = .patience) async throws {
        // A wait may begin on its caller's own thread while the loop sleeps, for a deadline that the loop already has.
        // That is not reported, but regular looks find it.
        let what = "deadline number \(count)"
        do {
            try await eventually(what, following: self, within: limit) {
                reactors.reduce(0) { $0 + $1.armedDeadlines } >= count
            }
        } catch is NeverCame {
            throw LoopbackServer.WaitTimedOut(what: what, limit: limit)
        }
    }

    /// Moves the clock by `step` repeatedly until `condition` holds, for waits on the clock within work that takes real
    /// time. Between two moves there are a few milliseconds of real time, for work that is not on one of the clock's
    /// loops and so is not waited for.
    ///
    /// Throws `NeverCame` if the condition does not hold within `limit` of real time.
    public func advance(
        by step: Duration, until what: String, within limit: Duration = .patience, fileID: String = #fileID,
        line: Int = #line, _ condition: () async throws -> Bool
    ) async throws {
        try await eventually(what, every: .milliseconds(2), within: limit, fileID: fileID, line: line) {
            if try await condition() { return true }
            try await advance(by: step)
            return false
        }
    }
}
