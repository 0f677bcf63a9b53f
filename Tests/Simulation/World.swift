import DunlinResilience
import DunlinTypes

/// Runs one scenario: one thread takes events from a queue, which change the server, the clients and the requests.
struct World {
    private struct Request {
        let client: Int
        let began: Int64
        var attempts = 0
        var isOver = false
        /// Whether its latest attempt is under way, since when, and its number at the breaker.
        var isSent = false
        var sent: Int64 = 0
        var number: UInt64 = 0
        /// Its number while it waits for its turn.
        var turn: UInt64?
    }

    private let scenario: Scenario
    private var random: Random
    private var events = EventQueue()
    private var server: Server
    private var clients: [Client]
    private var requests: [Request] = []
    private(set) var measures: Measures

    init(_ scenario: Scenario, _ policy: Policy, seed: UInt64) {
        self.scenario = scenario
        random = Random(seed: seed)
        server = Server(scenario.server)
        clients = Array(repeating: Client(policy), count: scenario.clients)
        measures = Measures(seconds: Int(scenario.length))
        requests.reserveCapacity(50_000)
    }

    mutating func run() {
        for client in clients.indices { scheduleArrival(client, after: 0) }
        if let down = scenario.server.down { events.add(.change, at: Int64(down.lowerBound * 1e9)) }
        // Workers come back one by one.
        for second in 0..<Int(scenario.length) { events.add(.change, at: Int64(second) * 1_000_000_000) }
        while let (now, event) = events.next(), Double(now) < scenario.length * 1e9 { handle(event, at: now) }
    }

    private mutating func handle(_ event: EventQueue.Event, at now: Int64) {
        switch event {
        case .arrival(let client):
            scheduleArrival(client, after: now)
            measures.requested(at: now)
            requests.append(Request(client: client, began: now))
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

    private mutating func attempt(_ index: Int, at now: Int64) {
        guard !requests[index].isOver else { return }
        guard clients[requests[index].client].policy == .dunlin else { return send(index, at: now) }
        let deadline = HTTP.Instant(nanoseconds: requests[index].began + scenario.totalLimit)
        let answer = clients[requests[index].client].rate.ask(
            .normal, until: deadline, at: HTTP.Instant(nanoseconds: now))
        switch answer {
        case .go: send(index, at: now)
        case .wait(let number, let until):
            requests[index].turn = number
            events.add(.attempt(request: index, number: number), at: until.nanoseconds)
        case .refuse: finish(index)
        }
    }

    private mutating func again(_ index: Int, _ number: UInt64, at now: Int64) {
        switch clients[requests[index].client].rate.again(number, at: HTTP.Instant(nanoseconds: now)) {
        case nil: break
        case .go:
            requests[index].turn = nil
            send(index, at: now)
        case .wait(_, let until): events.add(.attempt(request: index, number: number), at: until.nanoseconds)
        case .refuse: finish(index)
        }
    }

    private mutating func send(_ index: Int, at now: Int64) {
        let (mayGo, number) = clients[requests[index].client].mayGo(at: now)
        guard mayGo else { return finish(index) }
        requests[index].attempts += 1
        (requests[index].isSent, requests[index].sent, requests[index].number) = (true, now, number)
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
        let client = request.client
        clients[client].ended(request.number, answer, after: now - request.sent, at: now, chance: random.next())
        if case .good = answer { measures.succeeded(after: now - request.began, at: now) }
        guard let wait = clients[client].wait(after: request.attempts, answer, at: now, &random) else {
            return finish(job.request)
        }
        if now + wait >= request.began + scenario.totalLimit { return finish(job.request) }
        events.add(.attempt(request: job.request, number: nil), at: now + wait)
    }

    /// The user waits no longer.
    private mutating func leave(_ index: Int, at now: Int64) {
        let request = requests[index]
        guard !request.isOver else { return }
        if let turn = request.turn { clients[request.client].rate.leave(turn) }
        if request.isSent {
            clients[request.client].ended(request.number, nil, after: now - request.sent, at: now, chance: 0)
        }
        finish(index)
    }

    private mutating func finish(_ index: Int) {
        requests[index].isOver = true
        clients[requests[index].client].finished(after: requests[index].attempts)
    }
}
