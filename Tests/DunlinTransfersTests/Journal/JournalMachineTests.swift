import Dunlin
import DunlinTypes
import Testing

@testable import DunlinTransfers

@Suite struct `What becomes of a journaled transfer` {
    typealias Machine = JournalMachine

    /// `failures`: how many attempts have failed in earlier processes.
    static func machine(
        _ method: String = "GET", found: JournalEntry.NamedFile? = nil, attempts: Int = 4, failures: Int = 0
    ) -> Machine {
        var entry = JournalEntry(
            id: `An entry of a journal`.id, request: `An entry of a journal`.request(method),
            work: `An entry of a journal`.upload, metadata: nil)
        if found != nil { entry.state = .publishing(`An entry of a journal`.named) }
        var rules = TransferJournal.Rules()
        rules.attempts = attempts
        entry.failures = failures
        rules.longestDelay = .seconds(3)
        return Machine(entry, rules, found: found)
    }

    static func started(_ method: String = "GET") -> Machine {
        var machine = machine(method)
        _ = machine.start()
        return machine
    }

    private static func unexpected(_ step: Machine.Step?, _ location: SourceLocation = #_sourceLocation) {
        Issue.record("another step: \(step.map { "\($0)" } ?? "")", sourceLocation: location)
    }

    private static let passing = Machine.Ending.failed(mayPass: true, isSafe: true)

    @Test func `a transfer is written down as running, and counted, before anything is sent`() {
        var machine = Self.machine()
        #expect(machine.isSuspended && !machine.maySend)
        let begins = [machine.start(), machine.start()]
        #expect(begins == [true, false])
        var expected = machine.entry
        expected.state = .running
        expected.attempts = 1
        let step = machine.next()
        #expect(step == .send(expected))
        #expect(machine.maySend)
        let last = machine.ended(.done)
        #expect(last == .forget)
        #expect(!machine.maySend)
    }

    @Test func `a transfer that lacks what says who asks is begun by whoever gives it, and else left`() {
        func restored(isAnew: Bool = false) -> Machine {
            var entry = Self.machine().entry
            entry.request.unsaved = ["authorization", "proxy"]
            var machine = Machine(entry, TransferJournal.Rules(), isAnew: isAnew)
            _ = machine.start()
            return machine
        }
        var machine = restored()
        machine.give(["authorization"])
        let left = machine.next()
        #expect(left == .lacksUser && !machine.maySend && machine.lacking == ["proxy"])
        machine = restored()
        machine.give(["authorization", "proxy", "accept"])
        let step = machine.next()
        #expect(step == .send(machine.entry) && machine.entry.request.unsaved == ["authorization", "proxy"])
        machine = restored(isAnew: true)
        let own = machine.next()
        #expect(own == .send(machine.entry))
        // Another origin is asked as nobody, and by the same way.
        machine = restored()
        machine.leaveUser()
        #expect(machine.lacking == ["proxy"] && machine.entry.request.unsaved == ["proxy"])
        // No origin makes it another user's.
        var another = JournalMachine(machine.entry, .init(), ofAnother: true)
        #expect(another.start() == true)
        another.give(["proxy", "credentials", "authorization"])
        another.leaveUser()
        let kept = another.next()
        #expect(kept == .lacksUser && another.lacking == [JournalMachine.userID])
        machine.give(["proxy"])
        let moved = machine.next()
        #expect(moved == .send(machine.entry))
    }

    @Test func `a transfer whose URL was not saved whole is begun by whoever says it, and else left`() {
        func restored(isAnew: Bool = false) -> Machine {
            var entry = Self.machine().entry
            (entry.request.url, entry.request.hidesSecrets) = ("https://a.test/x?token=***", true)
            var machine = Machine(entry, TransferJournal.Rules(), isAnew: isAnew)
            _ = machine.start()
            return machine
        }
        var machine = restored()
        let lacks = machine.lacksURL
        let left = machine.next()
        #expect(lacks && left == .lacksURL && !machine.maySend)
        machine = restored()
        machine.ask(StoredURL("https://a.test/x?token=new", hiding: .usual))
        let step = machine.next()
        #expect(step == .send(machine.entry) && machine.entry.attempts == 1)
        #expect(machine.entry.request.formerURLs == ["https://a.test/x?token=***"])
        #expect(machine.entry.request.url == "https://a.test/x?token=***")
        machine = restored(isAnew: true)
        let own = machine.next()
        #expect(own == .send(machine.entry))
        machine = restored()
        _ = machine.cancel()
        let cancelled = machine.next()
        #expect(cancelled == .forget)
    }

    @Test func `a temporary failure is tried again, later each time, up to a limit`() {
        var machine = Self.started()
        var delays: [Duration] = []
        for attempt in 1...3 {
            guard case .send(let sent) = machine.next() else { return Self.unexpected(nil) }
            #expect(sent.attempts == attempt)
            guard case .wait(let entry, let delay) = machine.ended(Self.passing) else { return Self.unexpected(nil) }
            #expect(entry.state == .waiting && entry.failures == attempt)
            delays.append(delay)
        }
        #expect(delays == [.seconds(1), .seconds(2), .seconds(3)])
        _ = machine.next()
        let last = machine.ended(Self.passing)
        #expect(last == .forget)
    }

    @Test(arguments: [(0, 0, 1), (1, 0, 1), (2, 0, 2), (5, 0, 5), (5, 2, 3), (5, 4, 1), (5, 9, 1)])
    func `a transfer is sent as often as its rules say, and what failed in earlier processes counts`(
        limit: Int, failures: Int, sendings: Int
    ) {
        var machine = Self.machine(attempts: limit, failures: failures)
        _ = machine.start()
        var count = 0
        var step = machine.next()
        while case .send = step, count < 10 {
            count += 1
            step = machine.ended(Self.passing)
            if case .wait = step { step = machine.next() }
        }
        #expect(step == .forget && count == sendings)
    }

    @Test(
        arguments: [
            ("GET", true, true, true), ("GET", true, false, true), ("PUT", true, false, true),
            ("POST", true, true, true), ("POST", true, false, false), ("GET", false, true, false),
        ])
    func `a transfer is forgotten if its failure is lasting or its repetition is unsafe`(
        method: String, mayPass: Bool, isSafe: Bool, isTriedAgain: Bool
    ) {
        var machine = Self.started(method)
        _ = machine.next()
        let step = machine.ended(.failed(mayPass: mayPass, isSafe: isSafe))
        #expect((step != .forget) == isTriedAgain)
    }

    @Test(arguments: [true, false])
    func `a transfer is forgotten if something else was sent for it that may not be sent again`(isSafe: Bool) {
        var machine = Self.started("PUT")
        _ = machine.next()
        let step = machine.ended(.failed(mayPass: true, isSafe: isSafe, isRepeatable: false))
        #expect((step != .forget) == isSafe)
    }

    @Test(arguments: [(0, 1), (2, 2), (100, 3)]) func `a server's Retry-After is honoured up to a limit`(
        asked: Int, waited: Int
    ) {
        var machine = Self.started()
        _ = machine.next()
        let step = machine.ended(.failed(mayPass: true, isSafe: true, delay: .seconds(asked)))
        guard case .wait(_, let delay) = step else { return Self.unexpected(step) }
        #expect(delay == .seconds(waited))
    }

    enum When: CaseIterable {
        case held
        case sending
        case waiting
    }

    @Test(arguments: When.allCases, [true, false])
    func `a cancelled transfer is forgotten, and a closed one is left in the journal`(
        when: When, cancels: Bool
    ) {
        var machine = Self.machine()
        if when != .held { _ = machine.start() }
        if when != .held { _ = machine.next() }
        if when == .waiting { _ = machine.ended(Self.passing) }
        let isNews = cancels ? machine.cancel() : machine.close()
        #expect(isNews)
        // The first word counts.
        let laterWords = [machine.cancel(), machine.close()]
        #expect(laterWords == [false, false])
        let begins = machine.start()
        #expect(begins == (when == .held && cancels))
        #expect(!machine.maySend)
        if when == .held && !cancels { return }
        let step = when == .sending ? machine.ended(Self.passing) : machine.next()
        #expect(step == (cancels ? .forget : .leave))
        let lastWords = [machine.cancel(), machine.close()]
        #expect(lastWords == [false, false])
    }

    @Test func `a transfer that is done is forgotten, even if it was cancelled or closed meanwhile`() {
        for cancels in [true, false] {
            var machine = Self.started()
            _ = machine.next()
            _ = cancels ? machine.cancel() : machine.close()
            let step = machine.ended(.done)
            #expect(step == .forget)
        }
    }

    static let stops: [any Error] = [
        NetworkError(.cancelled, "test"), NetworkError(.sessionShutDown, "test"), CancellationError(),
    ]

    @Test(arguments: stops.indices) func `a transfer whose request is cancelled otherwise is left in the journal`(
        index: Int
    ) {
        var machine = Self.started()
        _ = machine.next()
        let step = machine.ended(Machine.Ending(Self.stops[index]))
        #expect(step == .leave)
    }

    @Test func `a transfer that cannot be written down is left as it was, unless it was cancelled`() {
        var machine = Self.started()
        _ = machine.next()
        let kept = machine.unwritten()
        #expect(kept == .leave)
        var unwanted = Self.started()
        _ = unwanted.next()
        _ = unwanted.cancel()
        let forgotten = unwanted.unwritten()
        #expect(forgotten == .forget)
    }

    @Test func `a file that already has its name is not downloaded again`() {
        let named = `An entry of a journal`.named
        var machine = Self.machine(found: named)
        _ = machine.start()
        let step = machine.next()
        #expect(step == .finished(named))
    }

    static let others: [@Sendable (inout JournalEntry.NamedFile) -> Void] = [
        { $0.number -= 1 }, { $0.length += 1 }, { $0.modified += 1 }, { $0.path = "/other" },
    ]

    @Test(arguments: others.indices) func `a different file of the same name does not count as the download`(index: Int)
    {
        var other = `An entry of a journal`.named
        Self.others[index](&other)
        var machine = Self.machine(found: other)
        _ = machine.start()
        guard case .send = machine.next() else { return Self.unexpected(nil) }
    }

    @Test func `a file is written down before it gets its name`() {
        var machine = Self.started()
        _ = machine.next()
        let named = `An entry of a journal`.named
        let published = machine.publish(named)
        #expect(published.state == .publishing(named))
        #expect(machine.entry.state == .publishing(named))
    }

    @Test(
        arguments: [
            (.connectionFailed, nil, true), (.connectionClosed, nil, true), (.nameNotResolved, nil, true),
            (.timedOut, nil, true), (.unacceptableStatus, 503, true), (.unacceptableStatus, 429, true),
            (.unacceptableStatus, 404, false), (.serverTrustFailed, nil, false), (.fileNotWritten, nil, false),
            (.digestMismatch, nil, false),
        ] as [(NetworkError.Code, Int?, Bool)])
    func `errors of the network and of a busy server are temporary`(
        code: NetworkError.Code, status: Int?, mayPass: Bool
    ) {
        var error = NetworkError(code, "test", requestMayHaveBeenSent: true)
        error.response = status.map { ResponseHead(status: HTTP.Status($0), fields: ["Retry-After": "7"]) }
        let delay: Duration? = status == nil ? nil : .seconds(7)
        #expect(Machine.Ending(error) == .failed(mayPass: mayPass, isSafe: false, delay: delay))
        error.isSafeToRetry = true
        #expect(Machine.Ending(error) == .failed(mayPass: mayPass, isSafe: true, delay: delay))
        #expect(Machine.Ending(JournalEntry.Damage("")) == .failed(mayPass: false, isSafe: false))
    }

    @Test(
        arguments: [("7", 7), ("Sun, 06 Nov 1994 08:49:37 GMT", 30), ("99999999999999999999", .max)]
            as [(String, Int64)])
    func `a Retry-After is a number or a date, by the server's clock`(text: String, seconds: Int64) {
        var error = NetworkError(.unacceptableStatus, "test")
        let fields: Fields = ["Retry-After": text, "Date": "Sun, 06 Nov 1994 08:49:07 GMT"]
        error.response = ResponseHead(status: HTTP.Status(503), fields: fields)
        #expect(Machine.Ending(error) == .failed(mayPass: true, isSafe: true, delay: .seconds(seconds)))
    }

    @Test(arguments: ["x", "-1", "+1", ""])
    func `an invalid Retry-After is ignored`(text: String) {
        var error = NetworkError(.unacceptableStatus, "test")
        error.response = ResponseHead(status: HTTP.Status(503), fields: ["Retry-After": text])
        #expect(Machine.Ending(error) == .failed(mayPass: true, isSafe: true))
    }
}
