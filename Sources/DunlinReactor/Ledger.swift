internal import Synchronization

/// Counts what a loop has open, so that a test can tell that everything was given back.
public final class Ledger: Sendable {
    public enum Account: Sendable {
        case channels
        case timers
    }

    private let channels = Atomic<Int>(0)
    private let timers = Atomic<Int>(0)

    public var openChannels: Int { channels.load(ordering: .acquiring) }
    public var openTimers: Int { timers.load(ordering: .acquiring) }

    func add(_ account: Account, _ change: Int) {
        switch account {
        case .channels: channels.add(change, ordering: .acquiringAndReleasing)
        case .timers: timers.add(change, ordering: .acquiringAndReleasing)
        }
    }
}
