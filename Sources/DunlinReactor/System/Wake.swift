/// Why a wait ended.
public enum Wake: Sendable, Equatable {
    /// The descriptor may be ready: try.
    case ready
    case timedOut
    /// This turn was cancelled.
    case cancelled
    case closed
    /// Somebody else already waits for this direction.
    case busy
    /// The reader was woken (`Channel.wakeReader`): what it waits for may have changed.
    case woken
}
