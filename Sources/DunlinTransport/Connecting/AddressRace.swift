internal import DunlinReactor
internal import DunlinTypes

/// Connects to the first of several addresses that answers, and closes the others.
///
/// `AddressRaceMachine` decides what to do next. A single address needs only a wait on its channel, and no task.
struct AddressRace {
    enum Result {
        case open(DialedChannel)
        case refused(NetworkError.ConnectionFailures)
        case gaveUp(Wake)
    }

    let dialer: Dialer
    /// The time between two attempts, in nanoseconds.
    let delay: Int64
    let deadline: HTTP.Instant
    let cancellation: Cancellation

    /// Runs the race. Sets the hop's peer to the address that won, otherwise to the one tried last.
    func run(_ addresses: [HTTP.SocketAddress], _ hop: inout HTTP.Hop) async -> Result {
        if addresses.count == 1 {
            hop.peer = addresses[0]
            return await finish(dialer.dial(addresses[0]))
        }
        return await race(addresses, &hop)
    }

    /// Waits for the only attempt.
    func finish(_ begun: Dialer.Result) async -> Result {
        switch begun {
        case .open(let dialed): return .open(dialed)
        case .refused(let failure): return .refused(NetworkError.ConnectionFailures([failure]))
        case .underway(let dialed):
            let wake = await established(dialed)
            guard wake == .ready else {
                dialed.channel.close()
                return .gaveUp(wake)
            }
            switch Dialer.outcome(of: dialed) {
            case .open(let dialed), .underway(let dialed): return .open(dialed)
            case .refused(let failure): return .refused(NetworkError.ConnectionFailures([failure]))
            }
        }
    }

    private func established(_ dialed: DialedChannel) async -> Wake {
        guard cancellation.arm(dialed.channel, turn: dialed.turn) else { return .cancelled }
        defer { cancellation.disarm() }
        return await dialed.channel.waitWritable(until: deadline)
    }

    private func race(_ addresses: [HTTP.SocketAddress], _ hop: inout HTTP.Hop) async -> Result {
        var last: HTTP.SocketAddress?
        let result = await withTaskGroup(of: Contender.self) { group in
            var contenders = Contenders(
                machine: AddressRaceMachine(count: addresses.count, delay: delay, deadline: deadline))
            var action = contenders.machine.begin(at: now)
            while true {
                switch action {
                case .start(let position, let waitEnd):
                    last = addresses[position]
                    let begun = dialer.dial(addresses[position])
                    if case .underway(let dialed) = begun {
                        guard contenders.arm(dialed, cancellation) else {
                            return contenders.close(.gaveUp(.cancelled), including: dialed)
                        }
                        group.addTask { await Contender.wait(position, dialed, until: waitEnd) }
                    }
                    action = contenders.began(position, begun, at: now)
                case .wait:
                    guard let contender = await group.next() else { return .gaveUp(.closed) }
                    switch contender.wake {
                    case .ready:
                        action = contenders.began(contender.position, Dialer.outcome(of: contender.dialed), at: now)
                    case .timedOut:
                        action = contenders.machine.slow(contender.position, at: now)
                        // This attempt continues in parallel with the next.
                        group.addTask { await Contender.wait(contender.position, contender.dialed, until: deadline) }
                    case .cancelled, .closed, .busy, .woken: return contenders.close(.gaveUp(contender.wake))
                    }
                case .win(let position): return contenders.win(position)
                case .fail: return .refused(contenders.failures)
                case .giveUp: return contenders.close(.gaveUp(.timedOut))
                }
            }
        }
        if case .open(let dialed) = result { last = dialed.address }
        hop.peer = last
        return result
    }

    private var now: HTTP.Instant { dialer.reactor.now() }
}

extension AddressRace {
    /// An attempt, and the outcome of its wait.
    private struct Contender: Sendable {
        let position: Int
        let dialed: DialedChannel
        let wake: Wake

        static func wait(_ position: Int, _ dialed: DialedChannel, until time: HTTP.Instant) async -> Contender {
            Contender(position: position, dialed: dialed, wake: await dialed.channel.waitWritable(until: time))
        }
    }

    /// The running attempts, and the outcomes of the others.
    private struct Contenders {
        var machine: AddressRaceMachine
        private(set) var failures = NetworkError.ConnectionFailures()
        private var channels: [Int: DialedChannel] = [:]
        /// The cancellations of the attempts, which are cancelled with the request.
        private var interrupts: [Cancellation] = []

        init(machine: AddressRaceMachine) {
            self.machine = machine
        }

        /// Adds an attempt. Returns false if the request was cancelled meanwhile.
        mutating func arm(_ dialed: DialedChannel, _ whole: Cancellation) -> Bool {
            let part = Cancellation(partOf: whole)
            interrupts.append(part)
            return part.arm(dialed.channel, turn: dialed.turn)
        }

        mutating func began(
            _ position: Int, _ result: Dialer.Result, at now: HTTP.Instant
        ) -> AddressRaceMachine.Action {
            switch result {
            case .underway(let dialed):
                channels[position] = dialed
                return .wait
            case .open(let dialed):
                channels[position] = dialed
                return machine.connected(position)
            case .refused(let failure):
                channels[position] = nil
                failures.append(failure)
                return machine.failed(position, at: now)
            }
        }

        func win(_ position: Int) -> Result {
            for (other, dialed) in channels where other != position { dialed.channel.close() }
            return channels[position].map { .open($0) } ?? .gaveUp(.closed)
        }

        func close(_ result: Result, including last: DialedChannel? = nil) -> Result {
            for dialed in channels.values { dialed.channel.close() }
            last?.channel.close()
            return result
        }
    }
}
