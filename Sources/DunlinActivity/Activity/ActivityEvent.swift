/// An event that the task of an `ActivityMonitor` handles, in order.
enum ActivityEvent: Sendable {
    typealias Work = @Sendable (isolated ActivityMonitor) async -> Void

    /// Work may have begun or ended.
    case ring
    /// A caller waits until this work is done.
    case work(Work, CheckedContinuation<Void, Never>)
    /// The alarm with this number has gone off.
    case waited(UInt64)
    /// Nobody reads this stream of changes any more.
    case forget(UInt64)
    /// The monitor is gone; it followed these sessions.
    case left([FollowedSession])
}
