internal import Synchronization

/// Tells what comes for the first time from what has been before.
struct FirstTimes<Element: Hashable & Sendable>: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 cannot compile its use from another file then.
    let known = Mutex<Set<Element>>([])

    /// True once for each.
    func isFirst(_ element: Element) -> Bool {
        known.withLock { $0.insert(element).inserted }
    }
}
