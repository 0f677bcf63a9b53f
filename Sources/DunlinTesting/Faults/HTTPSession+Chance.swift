public import Dunlin
internal import Synchronization

extension HTTPSession.Configuration {
    /// Makes sessions with this configuration deterministic: they share the random numbers of `generator`.
    public mutating func use(_ generator: SeededGenerator) {
        let generator = Shared(generator)
        random = { generator.next() }
    }

    private final class Shared: Sendable {
        private let generator: Mutex<SeededGenerator>

        init(_ generator: SeededGenerator) {
            self.generator = Mutex(generator)
        }

        func next() -> UInt64 { generator.withLock { $0.next() } }
    }
}
