internal import Dunlin
internal import Synchronization

/// A cache of pictures in memory, which removes the least recently used ones when there are too many.
///
/// Counted are four bytes for each pixel. Only the first frame of an animation is stored and counted. When more than
/// `capacity` bytes are used, pictures are removed until at most `preferredUsage` are. A picture larger than the
/// capacity is not stored and displaces no other. What is kept beside the pixels (the colour profile, the key, the
/// validators, and 512 bytes for each picture) is counted by itself, and may take as much again.
///
/// When the machine, or the process's control group, is short of memory, the cache shrinks to the preferred usage, and
/// when it is very short, to nothing.
///
/// Nothing is written to disk: a session's HTTP cache does that, and stores what the server sent.
public final class AutoPurgingImageCache: ImageRequestCache {
    enum Key: Hashable {
        case identifier(ExactText)
        case request(ImageKey)
    }

    struct Stored {
        let image: ImageBuffer
        var freshness: ImageFreshness
    }

    /// The bytes counted for each picture beside its own, for the cost of storing it.
    static let overhead = 512

    /// 100 MiB, of which 60 are left after a purge: AFNetworking's numbers.
    public static let usualCapacity = 100 << 20
    public static let usualPreferredUsage = 60 << 20

    private struct State {
        var machine: ImageCacheMachine<Key, Stored>
        var pressure: PressureObservation
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> Duration

    /// Creates a cache of AFNetworking's size.
    public convenience init() {
        self.init(Self.usualMachine, SystemMemoryPressure(), since: ContinuousClock())
    }

    /// Creates a cache of this size. Throws a `NetworkError` with code `invalidConfiguration` if the preferred usage is
    /// larger than the capacity. `pressure` reports when memory is short; nil to ignore it. `clock` measures ages.
    public convenience init(
        capacity: Int, preferredUsage: Int, pressure: (any MemoryPressureSource)? = SystemMemoryPressure(),
        clock: some Clock<Duration> = ContinuousClock()
    ) throws {
        guard let machine = ImageCacheMachine<Key, Stored>(capacity: capacity, preferred: preferredUsage) else {
            throw NetworkError(
                .invalidConfiguration,
                "`preferredUsage` is \(preferredUsage), and must be from 0 to `capacity`, \(capacity) bytes")
        }
        self.init(machine, pressure, since: clock)
    }

    private init(
        _ machine: ImageCacheMachine<Key, Stored>, _ source: (any MemoryPressureSource)?,
        since clock: some Clock<Duration>
    ) {
        state = Mutex(State(machine: machine, pressure: source.map { .idle($0) } ?? .none))
        let start = clock.now
        now = { start.duration(to: clock.now) }
    }

    deinit { state.withLock { $0.pressure.end() } }

    private static var usualMachine: ImageCacheMachine<Key, Stored> {
        ImageCacheMachine(capacity: usualCapacity, keeping: usualPreferredUsage)
    }

    /// Runs under the lock; what the machine discards is released afterwards.
    private func change<Value: Sendable>(
        _ body: (inout sending ImageCacheMachine<Key, Stored>) -> sending Value
    ) -> Value {
        let (value, discarded) = state.withLock { state in
            let value = body(&state.machine)
            return (value, state.machine.takeDiscarded())
        }
        _ = consume discarded
        return value
    }
}

// MARK: - Size

extension AutoPurgingImageCache {
    /// The bytes of the pixels.
    public var memoryUsage: Int { state.withLock { $0.machine.usage } }
    public var count: Int { state.withLock { $0.machine.count } }
    public var capacity: Int { state.withLock { $0.machine.capacity } }
    public var preferredUsage: Int { state.withLock { $0.machine.preferred } }

    /// Removes the least recently used pictures until at most the preferred usage is left.
    public func purge() { change { $0.purge() } }

    /// Reacts to memory pressure: purges, or removes everything if memory is very short.
    public func relieve(_ pressure: MemoryPressure) {
        switch pressure {
        case .some: purge()
        case .critical: removeAll()
        }
    }
}

// MARK: - By identifier

extension AutoPurgingImageCache {
    public func image(for identifier: String) -> ImageBuffer? {
        change { $0.anyValue(for: .identifier(ExactText(identifier)))?.image }
    }

    @discardableResult
    public func add(_ image: ImageBuffer, for identifier: String) -> Bool {
        add(Stored(image: image, freshness: .unlimited), for: .identifier(ExactText(identifier)))
    }

    @discardableResult
    public func removeImage(for identifier: String) -> Bool { change { $0.remove(.identifier(ExactText(identifier))) } }

    @discardableResult
    public func removeAll() -> Bool { change { $0.removeAll() } }
}

// MARK: - By request

extension AutoPurgingImageCache {
    public func lookUp(_ key: ImageKey) -> ImageLookup {
        let now = now()
        return change { machine in
            switch machine.value(for: .request(key), at: now) {
            case .fresh(let stored): .fresh(stored.image, stored.freshness)
            case .stale(let stored): .stale(stored.image, stored.freshness)
            case .nothing: .nothing
            }
        }
    }

    @discardableResult
    public func add(_ image: ImageBuffer, for key: ImageKey, freshness: ImageFreshness) -> Bool {
        guard freshness.isStorable else {
            removeImage(for: key)
            return false
        }
        return add(Stored(image: image, freshness: freshness), for: .request(key))
    }

    @discardableResult
    public func renew(_ key: ImageKey, freshness: ImageFreshness) -> Bool {
        guard freshness.isStorable else {
            removeImage(for: key)
            return false
        }
        let end = freshness.lifetime.map { now() + $0 }
        let key = Key.request(key)
        return change { machine in
            machine.renew(key, until: end) {
                $0.freshness = freshness
            } beside: {
                $0.bytesBeside + key.byteCount
            }
        }
    }

    @discardableResult
    public func removeImage(for key: ImageKey) -> Bool { change { $0.remove(.request(key)) } }

    @discardableResult
    public func invalidate(_ url: String) -> Int {
        change { machine in
            machine.removeAll { if case .request(let key) = $0 { key.url == url } else { false } }
        }
    }

    private func add(_ stored: Stored, for key: Key) -> Bool {
        state.withLock { $0.pressure.begin { [weak self] in self?.relieve($0) } }
        let end = stored.freshness.lifetime.map { now() + $0 }
        let stored = stored.owningItsProfile
        return change {
            $0.add(
                stored, bytes: stored.image.byteCount, beside: stored.bytesBeside + key.byteCount, for: key, until: end)
        }
    }
}

// MARK: - What is counted

extension AutoPurgingImageCache.Stored {
    /// What is kept beside the pixels and the key.
    var bytesBeside: Int {
        let texts: [String?] = [freshness.entityTag, freshness.lastModified, freshness.source?.text]
        let asking = texts.reduce(0) { bytes, text in bytes + (text?.utf8.count ?? 0) }
        return (image.colorProfile?.count ?? 0) + asking + AutoPurgingImageCache.overhead
    }

    /// A copy with its own profile, since a slice would keep all of its storage.
    fileprivate var owningItsProfile: Self {
        guard let profile = image.colorProfile else { return self }
        var image = image
        image.colorProfile = Bytes(profile.array)
        return Self(image: image, freshness: freshness)
    }
}

extension AutoPurgingImageCache.Key {
    var byteCount: Int {
        switch self {
        case .identifier(let name): name.string.utf8.count
        case .request(let key):
            key.selection.reduce(key.url.utf8.count + (key.filter?.utf8.count ?? 0)) { bytes, field in
                bytes + field.key.utf8.count + field.value.utf8.count
            }
        }
    }
}
