internal import Dunlin

/// The drafts that wait to be written. What is too much is lost, and counted.
///
/// Rules:
/// 1. One writer at a time: who adds a draft to an idle queue must start one, which takes drafts until there are none.
/// 2. The queue is limited by the number of drafts and by what they hold in memory. A single draft always fits.
/// 3. Whoever waits, waits for the drafts that were added before, and for none that come later.
struct DraftQueue<Waiter> {
    private let mostDrafts: Int
    private let mostBytes: Int
    private var drafts: [Draft] = []
    private var held = 0
    private var isWriting = false
    private var waiters: [(number: Int, waiter: Waiter)] = []
    /// How many were added, and how many of those the writer is done with.
    private var added = 0
    private var done = 0
    private(set) var lost = 0

    init(mostDrafts: Int, mostBytes: Int) {
        (self.mostDrafts, self.mostBytes) = (mostDrafts, mostBytes)
    }

    /// Adds a draft. Returns whether a writer must be started.
    mutating func add(_ draft: Draft) -> Bool {
        guard drafts.count < mostDrafts, drafts.isEmpty || held + draft.size <= mostBytes else {
            lost += 1
            return false
        }
        drafts.append(draft)
        held += draft.size
        added += 1
        defer { isWriting = true }
        return !isWriting
    }

    /// What the writer has to do next: write these; nil to stop.
    mutating func next() -> [Draft]? {
        if drafts.isEmpty {
            isWriting = false
            return nil
        }
        defer { (drafts, held) = ([], 0) }
        return drafts
    }

    /// Notes that the writer is done with so many drafts. Returns who waits no longer.
    mutating func wrote(_ count: Int) -> [Waiter] {
        done += count
        let over = waiters.filter { $0.number <= done }
        waiters.removeAll { $0.number <= done }
        return over.map(\.waiter)
    }

    mutating func lose() { lost += 1 }

    /// Waits until what was added is written. Returns false if it is.
    mutating func wait(_ waiter: Waiter) -> Bool {
        if done < added { waiters.append((added, waiter)) }
        return done < added
    }
}
