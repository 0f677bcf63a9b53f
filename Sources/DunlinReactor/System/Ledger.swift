internal import Synchronization

/// Counts what a loop has open, so that a test can check that everything was closed.
public final class Ledger: Sendable {
    public enum Account: Sendable {
        case channels
        case timers
    }

    private let channels = Atomic<Int>(0)
    private let timers = Atomic<Int>(0)

    private let emptied: (@Sendable () -> Void)?

    /// `emptied` is called whenever an account has come down to zero, on the thread that closed the last of it.
    public init(emptied: (@Sendable () -> Void)? = nil) {
        self.emptied = emptied
    }

    public var openChannels: Int { channels.load(ordering: .acquiring) }
    public var openTimers: Int { timers.load(ordering: .acquiring) }

    func add(_ account: Account, _ change: Int) {
        let open =
            switch account {
            case .channels: channels.add(change, ordering: .acquiringAndReleasing).newValue
            case .timers: timers.add(change, ordering: .acquiringAndReleasing).newValue
            }
        if open == 0 { emptied?() }
    }
}
