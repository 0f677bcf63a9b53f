internal import Dunlin
internal import DunlinTypes

/// The machines of a gate, by their keys: nothing here waits, calls a program's code or reads a clock.
///
/// A request of a server that is well, and has told no limit, is to cost little: the machines of a key are one object,
/// found without a look-up as long as requests have one key, and changed where they are.
struct GateState {
    /// The breaker and the server's own limit of one key.
    private final class Server {
        let key: String
        var breaker: BreakerMachine?
        /// Nil as long as the server has told nothing. Whether it is there stands beside it: a look at it copies it.
        var told: RateMachine?
        var isTold = false
        /// How many requests went before.
        var sent = 0

        init(_ key: String, _ breaker: BreakerMachine?) { (self.key, self.breaker) = (key, breaker) }

        func isIdle(at now: HTTP.Instant) -> Bool {
            breaker?.state ?? .closed == .closed && told?.isIdle(at: now) ?? true
        }
    }

    /// A limit of the session, for one key.
    private final class Rate {
        let key: String
        var machine: RateMachine

        init(_ key: String, _ machine: RateMachine) { (self.key, self.machine) = (key, machine) }
    }

    /// What is found of a limit of the session.
    private struct Rates {
        var all = RememberedKeys<Rate>()
        var latest: Rate?
    }

    struct Asked {
        let answer: BreakerMachine.Answer
        /// Whether it is a probe, and no other is under way.
        let isAlone: Bool
        let key: String
        /// Whether the server has told a limit.
        let isTold: Bool
    }

    private var servers = RememberedKeys<Server>()
    /// The server that was used last, and its origin, if that is its key.
    private var latest: (server: Server, origin: HTTP.Origin?)?
    private var rates: [Rates]
    private var refused = 0
    /// Where the numbers of the next machine begin: those of a machine that was forgotten are no other's.
    private var numbers: UInt64 = 0

    init(_ settings: Resilience) { rates = settings.rates.map { _ in Rates() } }

    private mutating func takeNumbers() -> UInt64 {
        numbers += 1 << 32
        return numbers
    }

    mutating func noteRefusal() { refused += 1 }

    /// Asks the breaker of a key; of the origin, if it is nil. `isFirst`: the request was not asked about before.
    mutating func ask(
        _ settings: Resilience, _ key: String?, _ origin: HTTP.Origin, isFirst: Bool, at now: HTTP.Instant
    ) -> Asked {
        let server = server(settings, key, origin, at: now)
        let answer = server.breaker?.ask(at: now) ?? .go(number: 0, isProbe: false)
        let isTold = server.isTold
        var isAlone = false
        if case .go(_, let isProbe) = answer {
            if isProbe { isAlone = server.breaker?.probesAlone ?? false }
            if isFirst, !isTold { server.sent += 1 }
        }
        return Asked(answer: answer, isAlone: isAlone, key: server.key, isTold: isTold)
    }

    /// Changes a key's breaker; nil if there is none.
    mutating func breaker<Answer>(_ key: String, _ change: (inout BreakerMachine) -> Answer) -> Answer? {
        let known = if let latest, latest.server.key == key { latest.server } else { servers[key] }
        return known?.breaker?.changed(change)
    }

    /// Changes the server's own limit.
    mutating func told<Answer>(
        _ settings: Resilience, _ key: String, at now: HTTP.Instant, _ change: (inout RateMachine) -> Answer
    ) -> Answer {
        let server = server(settings, key, nil, at: now)
        var machine = server.told ?? RateMachine(settings.toldRules, from: takeNumbers(), sent: server.sent)
        server.told = nil
        server.isTold = true
        defer { server.told = machine }
        return change(&machine)
    }

    /// Changes a limit of the session.
    mutating func rate<Answer>(
        _ settings: Resilience, _ index: Int, _ key: String, at now: HTTP.Instant,
        _ change: (inout RateMachine) -> Answer
    ) -> Answer {
        if let latest = rates[index].latest, latest.key == key { return change(&latest.machine) }
        let known = rates[index].all.use(key)
        let rate = known ?? Rate(key, RateMachine(settings.rates[index].rules, from: takeNumbers()))
        if known == nil { rates[index].all.add(rate, for: key) { $0.machine.isIdle(at: now) } }
        rates[index].latest = rate
        return change(&rate.machine)
    }

    private mutating func server(
        _ settings: Resilience, _ key: String?, _ origin: HTTP.Origin?, at now: HTTP.Instant
    ) -> Server {
        if let latest {
            if let key {
                if latest.server.key == key { return latest.server }
            } else if latest.origin == origin {
                return latest.server
            }
        }
        let name = key ?? origin?.description ?? ""
        let known = servers.use(name)
        let server = known ?? Server(name, settings.breaker.map { BreakerMachine($0, from: takeNumbers()) })
        if known == nil { servers.add(server, for: name) { $0.isIdle(at: now) } }
        latest = (server, key == nil ? origin : nil)
        return server
    }

    var gauges: Resilience.Gauges {
        var gauges = Resilience.Gauges()
        gauges.refused = refused
        for (key, server) in servers.latestFirst {
            if let state = server.breaker?.state, state != .closed {
                gauges.breakers[key] = state == .open ? .open : .halfOpen
            }
            if let told = server.told, told.waiting > 0 { gauges.waiting[key, default: 0] += told.waiting }
        }
        for rates in rates {
            for (key, rate) in rates.all.latestFirst where rate.machine.waiting > 0 {
                gauges.waiting[key, default: 0] += rate.machine.waiting
            }
        }
        return gauges
    }
}

extension BreakerMachine {
    /// Changes it where it is.
    fileprivate mutating func changed<Answer>(_ change: (inout BreakerMachine) -> Answer) -> Answer { change(&self) }
}
