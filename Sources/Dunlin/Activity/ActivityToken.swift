internal import Synchronization

/// Work that goes on, for an `ActivityMonitor` to show, until `end()` is called or the token is let go of.
public final class ActivityToken: Sendable {
    private let ledger: ActivityLedger
    private let hasEnded = Atomic<Bool>(false)

    init(_ ledger: ActivityLedger) {
        self.ledger = ledger
        ledger.began()
    }

    deinit {
        end()
    }

    /// Calling it again is harmless.
    public func end() {
        if !hasEnded.exchange(true, ordering: .relaxed) { ledger.ended() }
    }
}

/// How many tokens there are, and a bell to ring when that changes.
final class ActivityLedger: Sendable {
    let bell: AsyncStream<Void>.Continuation
    private let count = Atomic<Int>(0)

    init(_ bell: AsyncStream<Void>.Continuation) {
        self.bell = bell
    }

    var isBusy: Bool { count.load(ordering: .acquiring) > 0 }

    func began() {
        count.add(1, ordering: .releasing)
        bell.yield()
    }

    func ended() {
        count.subtract(1, ordering: .releasing)
        bell.yield()
    }
}
