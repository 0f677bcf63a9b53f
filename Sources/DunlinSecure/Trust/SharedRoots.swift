package import DunlinTypes
internal import Synchronization

/// The system's roots, read once a process and shared by all sessions, and with them the certificates that chains have
/// asked for (`TrustStore`).
///
/// Rules:
/// 1. Who asks at the same time waits for the one who reads, instead of reading the same again.
/// 2. Files change while a process lives: administrators add roots, and take away those that are believed no longer. So
///    whoever secures a connection has the files looked at, one call of stat for each, though not more often than
///    once in `interval`. What changed is read again.
/// 3. If it holds what it held, the store stays the one it was, and with it all that was decided by it.
/// 4. If nothing can be read any more, the roots are those that were: most likely somebody is just replacing them, and
///    the next change is looked at again.
package final class SharedRoots: Sendable {
    /// Of the process.
    package static let ofProcess = SharedRoots()

    private struct Known {
        var store: TrustStore
        var stamps: [String: FileStamp?]
        var lookedAt: Duration
        var loads: Int
    }

    private let interval: Duration
    private let now: @Sendable () -> Duration
    /// Environments seldom change within a process; one that keeps changing is not to fill the memory.
    private let known = Mutex(RecentValues<SystemRoots, Known>(limit: 8))
    /// Held while files are read, and by nobody for anything else: who comes second needs what the first one reads, and
    /// would take as long to read it himself.
    private let reading = Mutex(())

    /// `now` counts from any moment on.
    package init(
        interval: Duration = .seconds(1), now: @escaping @Sendable () -> Duration = SharedRoots.sinceStart
    ) {
        self.interval = interval
        self.now = now
    }

    /// What is in these places now. `looks`: they are looked at however short a time ago that was done before.
    package func store(of places: SystemRoots, looks: Bool = false) throws(NetworkError.TrustConfigurationError)
        -> TrustStore
    {
        if !looks, let store = fresh(places) { return store }
        return try reading.withLock { _ throws(NetworkError.TrustConfigurationError) in
            // Somebody else may have looked while this one waited.
            if !looks, let store = fresh(places) { return store }
            return try looked(at: places)
        }
    }

    /// For tests: how often these places were read.
    func loads(of places: SystemRoots) -> Int { known.withLock { $0[places]?.loads ?? 0 } }

    /// Whether somebody has looked at them a short time ago.
    package func isFresh(_ places: SystemRoots) -> Bool { fresh(places) != nil }

    /// What was there when somebody looked last, if that is not long ago.
    private func fresh(_ places: SystemRoots) -> TrustStore? {
        let now = now()
        return known.withLock { known in
            known[places].flatMap { now - $0.lookedAt < interval ? $0.store : nil }
        }
    }

    private func looked(at places: SystemRoots) throws(NetworkError.TrustConfigurationError) -> TrustStore {
        let now = now()
        guard var latest = known.withLock({ $0[places] }) else {
            let reading = try places.read()
            let store = try TrustStore(reading.roots)
            keep(Known(store: store, stamps: reading.stamps, lookedAt: now, loads: 1), of: places)
            return store
        }
        latest.lookedAt = now
        let stamps = latest.stamps.keys.map { ($0, FileStamp(path: $0)) }
        if !stamps.allSatisfy({ latest.stamps[$0.0] == .some($0.1) }) {
            latest.loads += 1
            do throws(NetworkError.TrustConfigurationError) {
                let reading = try places.read()
                let store = try TrustStore(reading.roots)
                latest.stamps = reading.stamps
                if store.digest != latest.store.digest { latest.store = store }
            } catch {
                latest.stamps = Dictionary(uniqueKeysWithValues: stamps)
            }
        }
        keep(latest, of: places)
        return latest.store
    }

    private func keep(_ new: Known, of places: SystemRoots) {
        known.withLock { $0.keep(new, for: places) }
    }

    private static let start = ContinuousClock.now

    package static let sinceStart: @Sendable () -> Duration = { start.duration(to: .now) }
}
