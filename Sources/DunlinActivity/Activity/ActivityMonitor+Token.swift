internal import Synchronization

extension ActivityMonitor {
    /// Work of your own that an `ActivityMonitor` shows, until `end()` is called or the token is released.
    public final class Token: Sendable {
        private let ledger: ActivityLedger
        private let hasEnded = Atomic<Bool>(false)

        init(_ ledger: ActivityLedger) {
            self.ledger = ledger
            ledger.began()
        }

        deinit {
            end()
        }

        /// Ends the work; calling it again has no effect.
        public func end() {
            if !hasEnded.exchange(true, ordering: .relaxed) { ledger.ended() }
        }
    }
}

/// Counts tokens and rings for the monitor: only once until the monitor has heard it, however often something changes.
final class ActivityLedger: Sendable {
    let events: AsyncStream<ActivityEvent>.Continuation
    private let isRung = Atomic<Bool>(false)
    private let begun = Atomic<UInt64>(0)
    private let over = Atomic<UInt64>(0)

    init(_ events: AsyncStream<ActivityEvent>.Continuation) {
        self.events = events
    }

    /// How many tokens have ended so far, and whether there are others. Ended ones are counted first, so none is
    /// missed.
    var tally: (ended: UInt64, isBusy: Bool) {
        let ended = over.load(ordering: .acquiring)
        return (ended, begun.load(ordering: .acquiring) > ended)
    }

    func began() {
        begun.add(1, ordering: .releasing)
        ring()
    }

    func ended() {
        over.add(1, ordering: .releasing)
        ring()
    }

    func ring() {
        if !isRung.exchange(true, ordering: .acquiringAndReleasing) { events.yield(.ring) }
    }

    /// Marks the ring as heard. Call it before looking, so that later changes ring again.
    func hear() {
        _ = isRung.exchange(false, ordering: .acquiringAndReleasing)
    }
}
