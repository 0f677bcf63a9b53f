internal import Dunlin
internal import FoundationEssentials
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

    /// The bytes counted for each picture beside its own, for the cost of storing it.
    static let overhead = 512

    /// 100 MiB, of which 60 are left after a purge: AFNetworking's numbers.
    public static let usualCapacity = 100 << 20
    public static let usualPreferredUsage = 60 << 20

    private struct State {
        var machine: ImageCacheMachine<Key, [StoredImage]>
        var pressure: PressureObservation
        var removals = Removals()
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> Int64

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
        guard let machine = ImageCacheMachine<Key, [StoredImage]>(capacity: capacity, preferred: preferredUsage) else {
            throw NetworkError(
                .invalidConfiguration,
                "`preferredUsage` is \(preferredUsage), and must be from 0 to `capacity`, \(capacity) bytes")
        }
        self.init(machine, pressure, since: clock)
    }

    private init(
        _ machine: ImageCacheMachine<Key, [StoredImage]>, _ source: (any MemoryPressureSource)?,
        since clock: some Clock<Duration>
    ) {
        state = Mutex(State(machine: machine, pressure: source.map { .idle($0) } ?? .none))
        let (start, begun) = (Int64(Date().timeIntervalSince1970), clock.now)
        self.clock = { start + begun.duration(to: clock.now).components.seconds }
    }

    deinit { state.withLock { $0.pressure.end() } }

    private static var usualMachine: ImageCacheMachine<Key, [StoredImage]> {
        ImageCacheMachine(capacity: usualCapacity, keeping: usualPreferredUsage)
    }

    private func change<Value: Sendable>(
        _ body: (inout sending ImageCacheMachine<Key, [StoredImage]>) -> sending Value
    ) -> Value {
        change { machine, _ in body(&machine) }
    }

    /// Runs under the lock; what the machine discards is released afterwards.
    private func change<Value: Sendable>(
        _ body: (inout ImageCacheMachine<Key, [StoredImage]>, inout Removals) -> Value
    ) -> Value {
        let (value, discarded) = state.withLock { state in
            let value = body(&state.machine, &state.removals)
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
        change { $0.value(for: .identifier(ExactText(identifier)))?.first?.image }
    }

    @discardableResult
    public func add(_ image: ImageBuffer, for identifier: String) -> Bool {
        add(StoredImage(image), for: .identifier(ExactText(identifier)))
    }

    @discardableResult
    public func removeImage(for identifier: String) -> Bool { change { $0.remove(.identifier(ExactText(identifier))) } }

    @discardableResult
    public func removeAll() -> Bool {
        change { machine, removals in
            removals.removeAll()
            return machine.removeAll()
        }
    }
}

// MARK: - By request

extension AutoPurgingImageCache {
    public var now: Int64 { clock() }

    public func removals(of url: String) -> UInt64 { state.withLock { $0.removals.number(of: url) } }

    public func images(for key: ImageKey) -> [StoredImage] { change { $0.value(for: .request(key)) ?? [] } }

    @discardableResult
    public func add(_ image: StoredImage, for key: ImageKey, since removals: UInt64) -> Bool {
        add(image, for: .request(key)) { $0.number(of: key.url) == removals }
    }

    @discardableResult
    public func removeImage(for key: ImageKey) -> Bool {
        remove(key.url) { $0.filter.hasSameBytes(as: key.filter) && $0.scale == key.scale } > 0
    }

    @discardableResult
    public func invalidate(_ url: String) -> Int {
        remove(ImageKey.normal(url)) { _ in true }
    }

    private func remove(_ url: String, _ isMeant: (ImageKey) -> Bool) -> Int {
        change { machine, removals in
            removals.remove(url)
            return machine.removeAll {
                if case .request(let key) = $0 { key.url.hasSameBytes(as: url) && isMeant(key) } else { false }
            }
        }
    }

    private func add(_ image: StoredImage, for key: Key, _ isWanted: (Removals) -> Bool = { _ in true }) -> Bool {
        state.withLock { $0.pressure.begin { [weak self] in self?.relieve($0) } }
        let image = image.owningItsProfile
        return change { machine, removals in
            guard isWanted(removals) else { return false }
            var images = machine.value(for: key) ?? []
            if case .identifier = key { images = [] }
            images.add(image)
            // Variants make no room for themselves at the cost of others.
            while images.count > 1,
                images.reduce(0, { $0 + max($1.image.byteCount, $1.bytesBeside) }) > machine.preferred
            {
                images.removeLast()
            }
            return machine.add(
                images, bytes: images.reduce(0) { $0 + $1.image.byteCount },
                beside: images.reduce(key.byteCount) { $0 + $1.bytesBeside }, for: key)
        }
    }
}

// MARK: - What is counted

extension StoredImage {
    /// What is kept beside the pixels and the key.
    fileprivate var bytesBeside: Int {
        (image.colorProfile?.count ?? 0) + byteCount + AutoPurgingImageCache.overhead
    }

    /// A copy with its own profile, since a slice would keep all of its storage.
    fileprivate var owningItsProfile: Self {
        guard let profile = image.colorProfile else { return self }
        var copy = self
        copy.image.colorProfile = Bytes(profile.array)
        return copy
    }
}

extension AutoPurgingImageCache.Key {
    fileprivate var byteCount: Int {
        switch self {
        case .identifier(let name): name.string.utf8.count
        case .request(let key): key.byteCount
        }
    }
}
