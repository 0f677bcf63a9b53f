internal import DunlinReactor
internal import Synchronization

/// A stream of events as the registry knows it: one thing to cancel, whichever of its attempts is found, and also while
/// none runs.
final class ListedStream: Sendable {
    /// Cancels the stream: what each attempt waits for is a part of it.
    let cancellation = Cancellation()
    let tags: Set<String>
    private let attempt = Atomic<UInt64>(0)
    private let over = Atomic(false)

    init(tags: Set<String>) {
        self.tags = tags
    }

    /// The ID of the last attempt; 0 before the first.
    var attemptID: UInt64 { attempt.load(ordering: .relaxed) }

    /// Whether nobody reads it any more.
    var isOver: Bool { over.load(ordering: .relaxed) }

    func begin(_ delegate: TaskDelegate) { attempt.store(delegate.id.rawValue, ordering: .relaxed) }

    /// Notes that nobody reads any more. Whoever keeps the delegate of an attempt keeps the stream.
    func end() { over.store(true, ordering: .relaxed) }
}

/// The streams of a session. They are not retained.
struct ListedStreams {
    private struct Entry {
        weak var stream: ListedStream?
    }

    private var entries: [Entry] = []
    private var mostEntries = 16

    /// Those that are read, or will be.
    var all: [ListedStream] { entries.compactMap(\.stream).filter { !$0.isOver } }

    mutating func add(_ stream: ListedStream) {
        if entries.count >= mostEntries {
            entries.removeAll { $0.stream == nil }
            mostEntries = max(16, 2 * entries.count)
        }
        entries.append(Entry(stream: stream))
    }
}
