/// Decides which ranges of one file several workers fetch in parallel, each with one exchange at a time.
///
/// Rules:
/// 1. Every missing byte belongs to one worker's run or is open. A run brings its bytes in order.
/// 2. A worker without work first takes a fair share of the open bytes. If there are none, it requests the far end of
///    the run that has most left; the slow worker keeps what it can bring, and at least `minimum`.
/// 3. Bytes requested from another's run stay the other's until the answer has come, and then pass over in one step: a
///    server that does not answer, or has no connection left, takes nothing from any worker. A run that has reached
///    them meanwhile keeps them all. The same holds for open bytes: if the worker that requested them gets no answer,
///    an idle one may request all of them too, after a wait.
/// 4. The rest of a run that ends becomes open, or goes to those who have already requested it.
/// 5. A worker whose exchange breaks continues after growing waits, up to `attempts` times without a new byte. Then it
///    leaves, and so does one whose answer is useless; after that nobody requests another's bytes. Answers that bring
///    little of what was requested are accepted `smallPieceLimit` times, and are useless then. They take nothing from
///    another's run.
/// 6. The work is over when nothing is missing, or no worker is left.
///
/// It must not know files, clocks, connections or heads.
package struct SegmentMachine<Waiter> {
    package struct Rules: Sendable {
        package var minimum = HTTPSession.Segments.defaultMinimum
        /// The greatest number of runs that a file is divided into: the number of pieces for which its record has room.
        package var cuts = ResumeRecord.manyPieces
        var retries = ResumeMachine.Rules()
        /// The greatest number of answers that may be both short and small.
        var smallPieceLimit = ResumeMachine.Rules.smallPieceLimit
        /// The number of bytes below which an answer is small.
        var smallPiece = ResumeMachine.Rules.smallPiece
        /// How long to wait for workers that have requested bytes before requesting the same.
        var longestWait = Duration.seconds(2)

        package init() {}
    }

    /// A worker's next step.
    package enum Step: Equatable {
        case ask(Range<Int>)
        /// Wait until the waiter is called, when there may be work.
        case wait
        /// Wait for at most `longestWait`; then `overtake` says what to do.
        case hesitate
        /// End: there is no more work for this worker.
        case leave
    }

    /// Which of the bytes that have come count.
    package struct Taken: Equatable {
        /// The number of bytes before those that count, which other workers bring.
        package var skipped = 0
        package let count: Int
        /// Whether the rest of the answer belongs to another worker or to nobody.
        package let isEnd: Bool
    }

    private struct Run {
        let assigned: Range<Int>
        /// The position of the next byte.
        var position: Int
        var end: Int
        /// The end of the answer.
        var reach: Int
        /// Whether the bytes are the worker's. They are another's until the answer has come.
        var isOwned: Bool
        var isAnswered: Bool
        /// Whether it is reading bytes that others bring.
        var isPassing = false

        init(_ range: Range<Int>, isOwned: Bool, isAnswered: Bool = false) {
            assigned = range
            (position, end, reach) = (range.lowerBound, range.upperBound, range.upperBound)
            self.isOwned = isOwned
            self.isAnswered = isAnswered
        }

        /// The range that it has requested without an answer; nil if that is not its own.
        var unanswered: Range<Int>? { isOwned && !isAnswered ? position..<end : nil }
    }

    private struct Worker {
        var run: Run?
        var waiter: Waiter?
        var idleAttempts = 0
        var hasLeft = false
    }

    private let rules: Rules
    private var workers: [Worker]
    /// The open ranges in order, without overlaps.
    private var open: [Range<Int>]
    private var cutsLeft: Int
    private var isRefused = false
    /// Whether an answer broke off.
    private var hasBroken = false
    private var smallPiecesLeft: Int
    /// The number of missing bytes.
    package private(set) var missing: Int

    /// Creates a machine. `gaps` are the missing ranges. Worker 0 is already receiving `lead`, the beginning of the
    /// first gap.
    package init(_ rules: Rules = Rules(), workers count: Int, gaps: [Range<Int>], lead: Range<Int>) {
        self.rules = rules
        workers = Array(repeating: Worker(), count: max(1, count))
        workers[0].run = Run(lead, isOwned: true, isAnswered: true)
        missing = gaps.reduce(0) { $0 + $1.count }
        open = gaps.flatMap { gap in
            [
                gap.lowerBound..<max(gap.lowerBound, min(gap.upperBound, lead.lowerBound)),
                min(gap.upperBound, max(gap.lowerBound, lead.upperBound))..<gap.upperBound,
            ].filter { !$0.isEmpty }
        }
        cutsLeft = rules.cuts - gaps.count
        smallPiecesLeft = rules.smallPieceLimit
    }

    /// The number of workers worth having for this many bytes.
    static func workers(_ count: Int, for bytes: Int, minimum: Int) -> Int {
        max(1, min(count, bytes / max(1, minimum)))
    }

    package var isComplete: Bool { missing == 0 }

    /// The workers that bring nothing at present, and may be about to request something.
    var unansweredWorkers: [Int] {
        workers.indices.filter { index in
            workers[index].run.map { !$0.isAnswered || $0.isPassing } ?? true
        }
    }

    /// Whether no worker is left although bytes are missing.
    var isGivenUp: Bool { !isComplete && workers.allSatisfy(\.hasLeft) }
}

// MARK: - Taking

extension SegmentMachine {
    package mutating func next(for worker: Int, _ waiter: Waiter) -> Step {
        if isComplete || workers[worker].hasLeft { return .leave }
        workers[worker].waiter = nil
        if let range = takeOpen() {
            workers[worker].run = Run(range, isOwned: true)
            return .ask(range)
        }
        if let range = takeOver() {
            workers[worker].run = Run(range, isOwned: false)
            return .ask(range)
        }
        workers[worker].waiter = waiter
        return overtakable == nil ? .wait : .hesitate
    }

    /// The range to request after waiting for workers that got no answer; nil if the worker keeps waiting, with its
    /// waiter.
    package mutating func overtake(for worker: Int) -> Range<Int>? {
        guard !isComplete, !workers[worker].hasLeft, workers[worker].run == nil, let range = overtakable else {
            return nil
        }
        workers[worker].waiter = nil
        workers[worker].run = Run(range, isOwned: false)
        return range
    }

    /// The number of workers without work, including the one that asks.
    private var idle: Int { workers.count { !$0.hasLeft && $0.run == nil } }

    private mutating func takeOpen() -> Range<Int>? {
        guard let first = open.first else { return nil }
        // Both numbers may be very large: one comes from a server, and the other may mean that nothing is shared.
        let share = max(rules.minimum, (first.count - 1) / idle + 1)
        guard cutsLeft > 0, !isRefused, first.count - rules.minimum >= share else { return open.removeFirst() }
        cutsLeft -= 1
        let end = first.lowerBound + share
        open[0] = end..<first.upperBound
        return first.lowerBound..<end
    }

    private func takeOverCandidate() -> Range<Int>? {
        workers.compactMap { $0.run.flatMap(unasked) }.max { $0.count < $1.count }
    }

    /// The part of a run that no other worker has requested.
    private func unasked(of run: Run) -> Range<Int>? {
        guard run.isOwned else { return nil }
        let assigned = workers.compactMap { other in
            other.run.flatMap { !$0.isOwned && $0.assigned.lowerBound > run.position ? $0.assigned.lowerBound : nil }
        }
        return run.position..<min(run.end, assigned.min() ?? run.end)
    }

    /// The largest range that one worker has requested without an answer, and no other after it.
    private var overtakable: Range<Int>? {
        workers.compactMap { worker in
            guard let run = worker.run, run.unanswered != nil, let range = unasked(of: run), !range.isEmpty,
                !workers.contains(where: {
                    $0.run.map { !$0.isOwned && $0.assigned.lowerBound == run.position } ?? false
                })
            else { return nil }
            return range
        }.max { $0.count < $1.count }
    }

    private mutating func takeOver() -> Range<Int>? {
        guard cutsLeft > 0, !isRefused, let left = takeOverCandidate(), left.count / 2 >= rules.minimum else {
            return nil
        }
        cutsLeft -= 1
        let share = max(rules.minimum, left.count / (idle + 1))
        return left.upperBound - share..<left.upperBound
    }
}

// MARK: - What comes of it

extension SegmentMachine {
    /// Notes that the server sends `range`: the requested one or its beginning. Returns false if none of it is wanted
    /// any more (`ended` must follow), and the waiters to call.
    package mutating func answered(_ range: Range<Int>, to worker: Int) -> (isWanted: Bool, waiters: [Waiter]) {
        guard var run = workers[worker].run else { return (false, []) }
        workers[worker].run?.isAnswered = true
        run.isAnswered = true
        // A worker that asked later got its answer first.
        if run.isOwned, run.position == run.end { return (false, []) }
        if !run.isOwned {
            // Another's run is worth more than a small piece from its middle.
            guard !isSmall(range, of: run.assigned) else { return (false, []) }
            guard let host = host(of: run.assigned.lowerBound), let end = workers[host].run?.end else {
                return (false, [])
            }
            workers[host].run?.end = run.assigned.lowerBound
            run.isOwned = true
            let own = min(run.end, end)
            run.end = own
            workers[worker].run = run
            release(own..<end)
        }
        let end = max(run.position, min(run.end, range.upperBound))
        workers[worker].run?.end = end
        workers[worker].run?.reach = max(end, range.upperBound)
        release(end..<run.end)
        return (true, takeWaiters())
    }

    /// The worker whose run contains the byte, if it is still to come there. A worker that has its answer keeps the
    /// next byte.
    private func host(of byte: Int) -> Int? {
        workers.firstIndex { worker in
            worker.run.map { run in
                guard run.isOwned, byte < run.end else { return false }
                return run.isAnswered ? run.position < byte : run.position <= byte
            } ?? false
        }
    }

    private func isSmall(_ range: Range<Int>, of assigned: Range<Int>) -> Bool {
        range.count < min(assigned.count, rules.smallPiece)
    }

    /// Whether an answer with `range` instead of `assigned` is useless, because it brings too little and is not the
    /// first.
    package mutating func isTooSmall(_ range: Range<Int>, of assigned: Range<Int>) -> Bool {
        guard isSmall(range, of: assigned) else { return false }
        defer { smallPiecesLeft = max(0, smallPiecesLeft - 1) }
        return smallPiecesLeft == 0
    }

    /// Notes that this many bytes have come. Returns how many of them count.
    package mutating func received(_ count: Int, by worker: Int) -> Taken {
        guard workers[worker].run?.isOwned == true else { return Taken(count: 0, isEnd: true) }
        let skipped = skip(count, by: worker)
        guard var run = workers[worker].run else { return Taken(count: 0, isEnd: true) }
        let taken = min(count - skipped, run.end - run.position)
        run.position += taken
        missing -= taken
        workers[worker].run = run
        return Taken(skipped: skipped, count: taken, isEnd: run.position == run.end && beyond(run) == nil)
    }

    /// Notes that the worker's exchange ended well. Returns the waiters to call.
    package mutating func ended(_ worker: Int) -> [Waiter] {
        leaveRun(of: worker)
        return takeWaiters()
    }

    /// Notes that the worker's exchange broke. Returns the wait before it may continue (nil: not at all), and the
    /// waiters to call.
    package mutating func broke(_ worker: Int, mayPass: Bool) -> (delay: Duration?, waiters: [Waiter]) {
        var isUseless = false
        if let run = workers[worker].run, run.isOwned, run.assigned.lowerBound < run.position {
            isUseless = isTooSmall(run.assigned.lowerBound..<run.position, of: run.assigned)
        }
        if workers[worker].run?.isAnswered == true { hasBroken = true }
        leaveRun(of: worker)
        let attempt = workers[worker].idleAttempts
        guard mayPass, !isUseless, attempt < rules.retries.attempts else {
            workers[worker].hasLeft = true
            return (nil, takeWaiters())
        }
        workers[worker].idleAttempts += 1
        return (rules.retries.delay(attempt), takeWaiters())
    }

    /// Notes that the worker's answer was useless, as further ones would be. Returns the waiters to call.
    package mutating func refused(_ worker: Int) -> [Waiter] {
        isRefused = true
        leaveRun(of: worker)
        workers[worker].hasLeft = true
        return takeWaiters()
    }

    private mutating func leaveRun(of worker: Int) {
        guard let run = workers[worker].run else { return }
        workers[worker].run = nil
        if !run.isOwned { return }
        if run.position > run.assigned.lowerBound { workers[worker].idleAttempts = 0 }
        release(run.position..<run.end)
    }

    /// Makes a range open, unless another worker has requested it.
    private mutating func release(_ range: Range<Int>) {
        var rest = range
        let askers = workers.indices.filter { index in
            workers[index].run.map { !$0.isOwned && range.contains($0.assigned.lowerBound) } ?? false
        }.sorted { workers[$0].run?.assigned.lowerBound ?? 0 < workers[$1].run?.assigned.lowerBound ?? 0 }
        for asker in askers {
            guard var run = workers[asker].run, rest.contains(run.assigned.lowerBound) else { continue }
            putBack(rest.lowerBound..<run.assigned.lowerBound)
            run.isOwned = true
            run.end = min(run.end, rest.upperBound)
            workers[asker].run = run
            rest = run.end..<rest.upperBound
        }
        putBack(rest)
    }

    private mutating func putBack(_ range: Range<Int>) {
        if range.isEmpty { return }
        let index = open.firstIndex { $0.lowerBound > range.lowerBound } ?? open.count
        open.insert(range, at: index)
        // Adjacent ranges become one again.
        if index + 1 < open.count, open[index + 1].lowerBound == range.upperBound {
            open[index] = range.lowerBound..<open.remove(at: index + 1).upperBound
        }
        if index > 0, open[index - 1].upperBound == open[index].lowerBound {
            open[index - 1] = open[index - 1].lowerBound..<open.remove(at: index).upperBound
        }
    }

    private mutating func takeWaiters() -> [Waiter] {
        var waiters: [Waiter] = []
        for index in workers.indices {
            if let waiter = workers[index].waiter.take() { waiters.append(waiter) }
        }
        return waiters
    }
}

// MARK: - Beyond a run

extension SegmentMachine {
    /// The next range after the run that its answer brings, and that nobody else has an answer for.
    private func beyond(_ run: Run) -> Range<Int>? {
        let open = hasBroken && !workers.contains(where: \.hasLeft) ? [] : open
        return (open + workers.compactMap { $0.run?.unanswered }).map { $0.clamped(to: run.end..<run.reach) }
            .filter { !$0.isEmpty }.min { $0.lowerBound < $1.lowerBound }
    }

    /// Skips bytes that others bring, if the worker has come to the end of its run. Returns how many it has skipped.
    private mutating func skip(_ count: Int, by worker: Int) -> Int {
        guard var run = workers[worker].run, run.position == run.end, let next = beyond(run) else { return 0 }
        let skipped = min(count, next.lowerBound - run.position)
        run.position += skipped
        (run.end, run.isPassing) = (run.position, true)
        workers[worker].run = run
        if skipped < count { take(next, by: worker) }
        return skipped
    }

    /// Makes the range the worker's: it is open, or belongs to a worker without an answer.
    private mutating func take(_ range: Range<Int>, by worker: Int) {
        workers[worker].run?.end = range.upperBound
        workers[worker].run?.isPassing = false
        if let index = open.firstIndex(where: { $0.overlaps(range) }) {
            let whole = open.remove(at: index)
            let rests = [whole.lowerBound..<range.lowerBound, range.upperBound..<whole.upperBound]
            open.insert(contentsOf: rests.filter { !$0.isEmpty }, at: index)
        }
        for other in workers.indices where other != worker {
            guard let run = workers[other].run, run.unanswered?.overlaps(range) == true else { continue }
            if run.position < range.lowerBound {
                workers[other].run?.end = range.lowerBound
            } else {
                workers[other].run?.isOwned = false
            }
            release(range.upperBound..<run.end)
        }
    }
}
