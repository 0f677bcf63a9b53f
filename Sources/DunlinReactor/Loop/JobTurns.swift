/// Orders the jobs of a loop.
///
/// Rules:
/// 1. Jobs run in order of arrival, with one exception: a task that goes from one of the loop's executors to another,
///    into or out of an actor that lives there, goes on at once, as if it had stayed. So between two requests of one
///    task nothing else runs, and no time passes that makes its connection doubtful.
/// 2. It does so a few times in a row at most; then others have their turn.
struct JobTurns {
    private static var onEnd: Int { 16 }

    private var ring = JobRing()
    /// The job that goes on at once.
    private var next: LoopJob?
    /// The job that runs just now.
    private var running: LoopJob?
    private var changes = 0

    var isEmpty: Bool { next == nil && ring.isEmpty }

    /// Adds a job from the loop's own thread.
    mutating func append(_ job: LoopJob) {
        if next == nil, changes < Self.onEnd, job.follows(running) {
            changes += 1
            next = job
        } else {
            ring.append(job)
        }
    }

    /// Takes the next job, which counts as running until `rest`.
    mutating func popFirst() -> LoopJob? {
        if next == nil {
            changes = 0
            running = ring.popFirst()
        } else {
            (running, next) = (next, nil)
        }
        return running
    }

    /// Notes that no job runs any more: jobs that arrive now are of tasks that waited.
    mutating func rest() {
        running = nil
    }
}

extension LoopJob {
    /// Whether it is a job of the same task as another (a task has one job at a time), for another of the loop's
    /// executors.
    fileprivate func follows(_ other: LoopJob?) -> Bool {
        switch (self, other) {
        case (.task(let job), .isolated(let former)), (.isolated(let job), .task(let former)):
            // SAFETY: a job is one word, the address of what it is of; nobody looks there.
            unsafeBitCast(job, to: UInt.self) == unsafeBitCast(former, to: UInt.self)
        case (.task, _), (.isolated, _): false
        }
    }
}
