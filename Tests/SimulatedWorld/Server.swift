/// A server: workers, a queue before them, and perhaps a limit on requests.
///
/// Rules:
/// 1. What finds no worker waits, in order of arrival; what finds the queue full is refused, which costs a part of the
///    work.
/// 2. The server does not notice that a client has gone: it does that work, too.
/// 3. The longer the queue, the longer all takes.
/// 4. While it is down, all connections are refused, and those that were open are lost. Afterwards it becomes as fast
///    as it was, little by little.
package struct Server {
    private let rules: ServerRules
    private var queue: [Job] = []
    private var head = 0
    private var running: [Job] = []
    private var debt = 0.0
    private(set) var era = 0
    private var limiter: Limiter?

    package init(_ rules: ServerRules) {
        self.rules = rules
        limiter = rules.limit.map { Limiter($0) }
    }

    private var waiting: Int { queue.count - head }

    /// Takes a request. Nil if the answer comes later.
    package mutating func take(_ job: Job, at now: Int64) -> Answer? {
        if rules.isDown(at: now) { return .lost }
        if rules.fails(at: now) { return .overloaded }
        if let refusal = limiter?.refusal(at: now) { return refusal }
        guard waiting < rules.queue else {
            debt += rules.refusalCost * rules.mean
            return .overloaded
        }
        queue.append(job)
        return nil
    }

    /// The next job that begins, and how long it takes; nil if none waits, or no worker is free.
    package mutating func begin(at now: Int64, _ random: inout Random) -> (job: Job, time: Int64)? {
        guard waiting > 0, running.count < rules.workers(at: now) else { return nil }
        let job = queue[head]
        head += 1
        if head > 1024 {
            queue.removeFirst(head)
            head = 0
        }
        running.append(job)
        let crowding = 1 + rules.crowding * Double(waiting) / Double(max(1, rules.queue))
        let time = random.time(mean: rules.mean * crowding) + debt
        debt = 0
        return (job, Int64(time * 1e9))
    }

    /// Ends a job; how much later its answer comes.
    package mutating func end(_ job: Job, at now: Int64, _ random: inout Random) -> (answer: Answer, delay: Int64) {
        running.removeAll { $0.request == job.request && $0.attempt == job.attempt }
        let isSlow = rules.slowShare(at: now) > 0 && random.share() < rules.slowShare(at: now)
        let delay = isSlow ? Int64(rules.mean * rules.slowness * 1e9) : 0
        return (.good(limiter?.state(at: now)), delay)
    }

    /// Loses all that is under way.
    mutating func lose() -> [Job] {
        let lost = running + queue[head...]
        (queue, head, running, debt) = ([], 0, [], 0)
        era += 1
        return lost
    }
}
