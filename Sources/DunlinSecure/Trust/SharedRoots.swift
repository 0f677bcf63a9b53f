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
    /// The process's shared roots.
    package static let ofProcess = SharedRoots()

    private struct Known {
        var store: TrustStore
        var stamps: [String: FileStamp?]
        var lookedAt: Duration
        var loads: Int
    }

    private let interval: Duration
    private let now: @Sendable () -> Duration
    /// The roots of recent places; limited in number, in case an environment keeps changing.
    private let known = Mutex(RecentValues<SystemRoots, Known>(limit: 8))
    /// Held while files are read, and for nothing else: a second caller waits for the first one's result instead of
    /// reading the same again.
    private let reading = Mutex(())

    /// Creates an instance; `now` may count from any moment.
    package init(
        interval: Duration = .seconds(1), now: @escaping @Sendable () -> Duration = SharedRoots.sinceStart
    ) {
        self.interval = interval
        self.now = now
    }

    /// Returns the roots in these places now. `looks`: check the files even if that was done a short time ago.
    package func store(of locations: SystemRoots, looks: Bool = false) throws(NetworkError.TrustConfigurationError)
        -> TrustStore
    {
        if !looks, let store = fresh(locations) { return store }
        return try reading.withLock { _ throws(NetworkError.TrustConfigurationError) in
            // Another caller may have looked while this one waited.
            if !looks, let store = fresh(locations) { return store }
            return try looked(at: locations)
        }
    }

    /// Returns how often these locations were read, for tests.
    func loads(of locations: SystemRoots) -> Int { known.withLock { $0[locations]?.loads ?? 0 } }

    /// Whether these places were checked a short time ago.
    package func isFresh(_ locations: SystemRoots) -> Bool { fresh(locations) != nil }

    /// Returns the roots found at the last check, if that is not long ago.
    private func fresh(_ locations: SystemRoots) -> TrustStore? {
        let now = now()
        return known.withLock { known in
            known[locations].flatMap { now - $0.lookedAt < interval ? $0.store : nil }
        }
    }

    private func looked(at locations: SystemRoots) throws(NetworkError.TrustConfigurationError) -> TrustStore {
        let now = now()
        guard var latest = known.withLock({ $0[locations] }) else {
            let reading = try locations.read()
            let store = try TrustStore(reading.roots)
            keep(Known(store: store, stamps: reading.stamps, lookedAt: now, loads: 1), of: locations)
            return store
        }
        latest.lookedAt = now
        let stamps = latest.stamps.keys.map { ($0, FileStamp(path: $0)) }
        if !stamps.allSatisfy({ latest.stamps[$0.0] == .some($0.1) }) {
            latest.loads += 1
            do throws(NetworkError.TrustConfigurationError) {
                let reading = try locations.read()
                let store = try TrustStore(reading.roots)
                latest.stamps = reading.stamps
                if store.digest != latest.store.digest { latest.store = store }
            } catch {
                latest.stamps = Dictionary(uniqueKeysWithValues: stamps)
            }
        }
        keep(latest, of: locations)
        return latest.store
    }

    private func keep(_ new: Known, of locations: SystemRoots) {
        known.withLock { $0.keep(new, for: locations) }
    }

    private static let start = ContinuousClock.now

    static let sinceStart: @Sendable () -> Duration = { start.duration(to: .now) }
}
