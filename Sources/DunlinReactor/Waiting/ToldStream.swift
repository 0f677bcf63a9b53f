internal import Synchronization

extension AsyncStream where Element: Sendable {
    /// A stream for one listener, of what is news in the light of what the listener knows.
    ///
    /// `look` waits for what comes after that, and ends the stream with nil. `tell` writes down what is known now and
    /// says what to tell, or nil if a listener would hear nothing new; it is called under a lock.
    package init<Known: Sendable, Sight: Sendable>(
        knowing known: Known, look: @escaping @Sendable (Known) async -> Sight?,
        tell: @escaping @Sendable (inout Known, Sight) -> Element?
    ) {
        let known = Mutex(known)
        self.init {
            while let sight = await look(known.withLock { $0 }) {
                if let news = known.withLock({ tell(&$0, sight) }) { return news }
            }
            return nil
        }
    }
}
