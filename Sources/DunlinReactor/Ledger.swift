internal import Synchronization

/// Counts what a loop has open, so that a test can tell that everything was given back.
public final class Ledger: Sendable {
    public enum Account: Sendable {
        case channels
        case timers
    }

    private let channels = Atomic<Int>(0)
    private let timers = Atomic<Int>(0)

    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    public var openChannels: Int { channels.load(ordering: .acquiring) }
    public var openTimers: Int { timers.load(ordering: .acquiring) }

    /// `listener` is called whenever an account has come down to zero, by whoever closed the last of it.
    package func listen(_ listener: @escaping @Sendable () -> Void) {
        self.listener.withLock { $0 = listener }
    }

    func add(_ account: Account, _ change: Int) {
        let open =
            switch account {
            case .channels: channels.add(change, ordering: .acquiringAndReleasing).newValue
            case .timers: timers.add(change, ordering: .acquiringAndReleasing).newValue
            }
        if open == 0 { listener.withLock { $0 }?() }
    }
}
