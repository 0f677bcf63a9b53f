/// The jobs of a loop in their turn.
///
/// Rules:
/// 1. They run in order of arrival, but for those of a task that goes from one of the loop's executors to another, in
///    and out of an actor that lives there: it goes on at once, as if there had been nowhere to go. Between two
///    requests of one task nothing else runs then, and no time goes by that makes its connection doubtful.
/// 2. It does so a few times on end at most; then others have their turn.
struct JobTurns {
    private static var onEnd: Int { 16 }

    private var ring = JobRing()
    /// Goes on at once.
    private var next: LoopJob?
    /// The job that runs just now.
    private var running: LoopJob?
    private var changes = 0

    var isEmpty: Bool { next == nil && ring.isEmpty }

    /// From the loop's own thread.
    mutating func append(_ job: LoopJob) {
        if next == nil, changes < Self.onEnd, job.follows(running) {
            changes += 1
            next = job
        } else {
            ring.append(job)
        }
    }

    /// The next, which runs until `rest`.
    mutating func popFirst() -> LoopJob? {
        if next == nil {
            changes = 0
            running = ring.popFirst()
        } else {
            (running, next) = (next, nil)
        }
        return running
    }

    /// No job runs: what arrives now are those of tasks that waited.
    mutating func rest() {
        running = nil
    }
}

extension LoopJob {
    /// Whether it is of the same task as another, which has one job at a time, and for another of the loop's executors.
    fileprivate func follows(_ other: LoopJob?) -> Bool {
        switch (self, other) {
        case (.task(let job), .isolated(let former)), (.isolated(let job), .task(let former)):
            // SAFETY: a job is one word, the address of what it is of; nobody looks there.
            unsafeBitCast(job, to: UInt.self) == unsafeBitCast(former, to: UInt.self)
        case (.task, _), (.isolated, _): false
        }
    }
}
