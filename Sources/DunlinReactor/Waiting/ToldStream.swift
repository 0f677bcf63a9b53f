internal import Synchronization

extension AsyncStream where Element: Sendable {
    /// A stream for one observer, of what is new to that observer.
    ///
    /// `look` waits for what comes after what is known, and ends the stream with nil. `tell` updates what is known and
    /// returns the element to deliver, or nil if it would tell the observer nothing new; it is called under a lock.
    package init<Known: Sendable, Observation: Sendable>(
        knowing known: Known, look: @escaping @Sendable (Known) async -> Observation?,
        tell: @escaping @Sendable (inout Known, Observation) -> Element?
    ) {
        let known = Mutex(known)
        self.init {
            while let observation = await look(known.withLock { $0 }) {
                if let news = known.withLock({ tell(&$0, observation) }) { return news }
            }
            return nil
        }
    }
}
