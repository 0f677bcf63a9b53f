internal import Dunlin

/// The drafts that wait to be written. What is too much is lost, and counted.
///
/// Rules:
/// 1. One writer at a time: who adds a draft to an idle queue must start one, which takes drafts until there are none.
/// 2. The queue is limited by the number of drafts and by what they hold in memory. A single draft always fits.
/// 3. Whoever waits for the end of all drafts waits until the writer has found none.
struct DraftQueue<Waiter> {
    private let mostDrafts: Int
    private let mostBytes: Int
    private var drafts: [Draft] = []
    private var held = 0
    private var isWriting = false
    private var waiters: [Waiter] = []
    private(set) var lost = 0
    private(set) var isClosed = false

    init(mostDrafts: Int, mostBytes: Int) {
        (self.mostDrafts, self.mostBytes) = (mostDrafts, mostBytes)
    }

    /// Adds a draft. Returns whether a writer must be started.
    mutating func add(_ draft: Draft) -> Bool {
        guard !isClosed, drafts.count < mostDrafts, drafts.isEmpty || held + draft.size <= mostBytes else {
            lost += 1
            return false
        }
        drafts.append(draft)
        held += draft.size
        defer { isWriting = true }
        return !isWriting
    }

    /// What the writer does next: write these, or stop and tell these.
    enum Step {
        case write([Draft])
        case stop([Waiter])
    }

    mutating func next() -> Step {
        if drafts.isEmpty {
            isWriting = false
            defer { waiters = [] }
            return .stop(waiters)
        }
        defer { (drafts, held) = ([], 0) }
        return .write(drafts)
    }

    mutating func lose() { lost += 1 }

    /// Waits until all is written. Returns false if it is.
    mutating func wait(_ waiter: Waiter) -> Bool {
        if isWriting { waiters.append(waiter) }
        return isWriting
    }

    /// Takes no more drafts.
    mutating func close() { isClosed = true }
}
