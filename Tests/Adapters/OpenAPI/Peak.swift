import Synchronization

/// The most memory that was seen.
final class Peak: Sendable {
    private let start: Int
    private let most: Atomic<Int>

    init(_ start: Int) {
        self.start = start
        most = Atomic(start)
    }

    func look() throws { most.max(try `Ten large streams at once`.resident(), ordering: .relaxed) }

    var growth: Int { most.load(ordering: .relaxed) - start }
}
