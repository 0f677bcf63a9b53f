extension HTTPSession {
    /// What happens to a session's requests, for whoever listens to `events`.
    public enum Event: Sendable {
        /// A request begins or goes on.
        case resumed(TaskSnapshot)
        case suspended(TaskSnapshot)
        /// A request is over. Told after whoever asked for it has been told.
        case completed(Completion)
        /// The session takes no more requests and none is running. The last event, unless the session is restarted.
        case invalidated
    }
}
