internal import DunlinResilience
internal import DunlinTypes

/// Runs one scenario: one thread takes events from a queue, which change the server, the clients and the requests.
package struct World {
    private struct Request {
        let client: Int
        var course: Course
        /// Whether its latest attempt is under way, and its number at the breaker.
        var isSent = false
        var number: UInt64 = 0
        /// Its number while it waits for its turn.
        var turn: UInt64?

        var isOver: Bool { course.end != nil }
        var attempts: Int { course.sent.count }
    }

    private let scenario: Scenario
    private var random: Random
    private var events = EventQueue()
    private var server: Server
    private var clients: [Client]
    private var requests: [Request] = []
    /// Whether each arrival has another follow at random.
    private let isOpen: Bool
    package private(set) var measures: Measures

    package init(_ scenario: Scenario, _ policy: Policy, seed: UInt64) {
        self.init(scenario, policy, Random(seed: seed), isOpen: true)
    }

    /// Creates one to which only these requests come, in order of time.
    package init(_ scenario: Scenario, _ policy: Policy, _ arrivals: [Arrival], _ random: Random) {
        self.init(scenario, policy, random, isOpen: false)
        for arrival in arrivals { events.add(.arrival(client: arrival.client), at: arrival.time) }
    }

    private init(_ scenario: Scenario, _ policy: Policy, _ random: Random, isOpen: Bool) {
        self.scenario = scenario
        self.random = random
        self.isOpen = isOpen
        server = Server(scenario.server)
        clients = Array(repeating: Client(policy), count: scenario.clients)
        measures = Measures(seconds: Int(scenario.length))
        requests.reserveCapacity(50_000)
    }

    /// What each request came to, in order of arrival.
    package var courses: [Course] { requests.map(\.course) }

    package mutating func run() {
        for client in clients.indices where isOpen { scheduleArrival(client, after: 0) }
        if let down = scenario.server.down { events.add(.change, at: Int64(down.lowerBound * 1e9)) }
        // Workers come back one by one.
        for second in 0..<Int(scenario.length) { events.add(.change, at: Int64(second) * 1_000_000_000) }
        while let (now, event) = events.next(), Double(now) < scenario.length * 1e9 { handle(event, at: now) }
    }

    private mutating func handle(_ event: EventQueue.Event, at now: Int64) {
        switch event {
        case .arrival(let client):
            if isOpen { scheduleArrival(client, after: now) }
            measures.requested(at: now)
            requests.append(Request(client: client, course: Course(began: now)))
            events.add(.totalLimit(request: requests.count - 1), at: now + scenario.totalLimit)
            attempt(requests.count - 1, at: now)
        case .attempt(let request, let number):
            if let number { again(request, number, at: now) } else { attempt(request, at: now) }
        case .served(let job, let era):
            guard era == server.era else { return }
            let (answer, delay) = server.end(job, at: now, &random)
            if delay > 0 {
                events.add(.answered(job: job, answer), at: now + delay)
            } else {
                answered(job, answer, at: now)
            }
            serve(at: now)
        case .answered(let job, let answer): answered(job, answer, at: now)
        case .attemptLimit(let job): answered(job, .timedOut, at: now)
        case .totalLimit(let request): leave(request, at: now)
        case .change:
            if scenario.server.isDown(at: now) {
                for job in server.lose() { answered(job, .lost, at: now) }
            }
            serve(at: now)
        }
    }

    private mutating func scheduleArrival(_ client: Int, after now: Int64) {
        let rate = scenario.rate(at: Double(now) / 1e9) / Double(clients.count)
        events.add(.arrival(client: client), at: now + Int64(random.time(mean: 1 / rate) * 1e9))
    }

    // MARK: - Attempts

    /// As in the gate of DunlinResilience, the breaker is asked first, and once more after a wait for a turn.
    private mutating func attempt(_ index: Int, at now: Int64) {
        guard !requests[index].isOver, mayGo(index, at: now) else { return }
        let client = requests[index].client
        guard clients[client].policy == .dunlin else { return send(index, at: now) }
        let deadline = HTTP.Instant(nanoseconds: requests[index].course.began + scenario.totalLimit)
        follow(clients[client].rate.ask(.normal, until: deadline, at: HTTP.Instant(nanoseconds: now)), index, at: now)
    }

    private mutating func again(_ index: Int, _ number: UInt64, at now: Int64) {
        let client = requests[index].client
        if let answer = clients[client].rate.again(number, at: HTTP.Instant(nanoseconds: now)) {
            follow(answer, index, at: now)
        }
    }

    private mutating func follow(_ answer: RateMachine.Answer, _ index: Int, at now: Int64) {
        let request = requests[index]
        switch answer {
        case .wait(let number, let until):
            requests[index].turn = number
            events.add(.attempt(request: index, number: number), at: until.nanoseconds)
        case .go:
            if request.turn != nil {
                requests[index].turn = nil
                clients[request.client].breaker.forget(request.number)
                guard mayGo(index, at: now) else { return }
            }
            send(index, at: now)
        case .refuse:
            clients[request.client].breaker.forget(request.number)
            finish(index, .refusedAtLimit, at: now)
        }
    }

    /// Whether the breaker lets a request through; otherwise it is over.
    private mutating func mayGo(_ index: Int, at now: Int64) -> Bool {
        let (mayGo, number) = clients[requests[index].client].mayGo(at: now)
        requests[index].number = number
        if !mayGo { finish(index, .refusedByBreaker, at: now) }
        return mayGo
    }

    private mutating func send(_ index: Int, at now: Int64) {
        requests[index].course.sent.append(now)
        requests[index].isSent = true
        measures.attempted(at: now)
        let job = Job(request: index, attempt: requests[index].attempts)
        if let answer = server.take(job, at: now) {
            answered(job, answer, at: now)
            return
        }
        events.add(.attemptLimit(job: job), at: now + scenario.attemptLimit)
        serve(at: now)
    }

    private mutating func serve(at now: Int64) {
        while let (job, time) = server.begin(at: now, &random) {
            events.add(.served(job: job, era: server.era), at: now + time)
        }
    }

    private mutating func answered(_ job: Job, _ answer: Answer, at now: Int64) {
        let request = requests[job.request]
        guard !request.isOver, request.isSent, request.attempts == job.attempt else { return }
        requests[job.request].isSent = false
        let (client, began) = (request.client, request.course.began)
        let time = now - (request.course.sent.last ?? now)
        clients[client].ended(request.number, answer, after: time, at: now, chance: random.next())
        if case .good = answer {
            measures.succeeded(after: now - began, at: now)
            return finish(job.request, .succeeded, at: now)
        }
        let left = began + scenario.totalLimit - now
        let wait = clients[client].wait(after: request.attempts, answer, left: left, at: now, &random)
        guard let wait, wait < left else { return finish(job.request, .failed, at: now) }
        events.add(.attempt(request: job.request, number: nil), at: now + wait)
    }

    /// The user waits no longer.
    private mutating func leave(_ index: Int, at now: Int64) {
        let request = requests[index]
        guard !request.isOver else { return }
        if let turn = request.turn {
            clients[request.client].rate.leave(turn)
            clients[request.client].breaker.forget(request.number)
        }
        if request.isSent {
            let time = now - (request.course.sent.last ?? now)
            clients[request.client].ended(request.number, nil, after: time, at: now, chance: 0)
        }
        finish(index, .outOfTime, at: now)
    }

    private mutating func finish(_ index: Int, _ end: Course.End, at now: Int64) {
        (requests[index].course.end, requests[index].course.ended) = (end, now)
        clients[requests[index].client].finished(after: requests[index].attempts)
    }
}
