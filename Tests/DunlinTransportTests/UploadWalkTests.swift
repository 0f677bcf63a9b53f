import DunlinTypes
import Testing

@testable import DunlinTransport

/// Everything that can happen to an upload and its response, in every order in which it can.
@Suite struct `Every order of an upload's events` {
    enum End: CaseIterable, Sendable {
        case complete
        case cut
        case reset
        case failed

        var outcome: UploadMachine.Outcome {
            switch self {
            case .complete: .complete
            case .cut: .cut(byReset: false)
            case .reset: .cut(byReset: true)
            case .failed: .failed(Broken())
            }
        }

        struct Broken: Error {}
    }

    /// How the peer answers, and what the reader does then.
    enum Answer: CaseIterable, Sendable {
        case never
        case success
        /// Which stops the sending.
        case refusal
    }

    struct Setup: Sendable {
        var end: End
        var answer: Answer
        /// Whether the reader gives up at some time.
        var givesUp: Bool
    }

    private static let setups = End.allCases.flatMap { end in
        Answer.allCases.flatMap { answer in
            [true, false].map { Setup(end: end, answer: answer, givesUp: $0) }
        }
    }

    @Test(arguments: setups)
    func `whatever comes first, there is one outcome, one end, and one limit`(setup: Setup) {
        var walk = UploadWalk(setup)
        walk.goOn()
        #expect(walk.faults.isEmpty)
        #expect(walk.ends.count > 1)
        let outcomes = Set(walk.ends)
        let expected: Set<End> =
            switch (setup.end, setup.answer == .refusal || setup.givesUp) {
            case (.failed, true): [.failed, .cut, .complete]
            case (let end, true): [end, .cut]
            case (let end, false): [end]
            }
        #expect(outcomes == expected)
    }

    /// Also orders that no driver of today brings about.
    private enum Event: String, CaseIterable {
        case begin, answer, reset, stop, end, leave, wait, awaitEnd
    }

    private static func orders(of events: [Event]) -> [[Event]] {
        if events.isEmpty { return [[]] }
        return events.indices.flatMap { index in
            var others = events
            let first = others.remove(at: index)
            return orders(of: others).map { [first] + $0 }
        }
    }

    @Test(arguments: End.allCases)
    func `answer, reset, stop and end have one meaning in every order`(end: End) {
        var faults: [[String]] = []
        for order in Self.orders(of: Event.allCases) {
            var machine = UploadMachine(after: 0)
            var (hasBegun, isStopped, told, outcome) = (false, false, 0, nil as End?)
            var isRight = true
            for (number, event) in order.enumerated() {
                let now = HTTP.Instant(nanoseconds: Int64(number))
                switch event {
                case .begin:
                    hasBegun = machine.begin() == .send
                    isRight = isRight && hasBegun == !isStopped
                case .answer: machine.answered(ResponseHead(status: .ok))
                case .reset: isRight = machine.end(.cut(byReset: true), at: now) != .close && isRight
                case .end:
                    let isFirst = hasBegun && machine.isUnderway
                    let action = machine.end(end.outcome, at: now)
                    isRight = isRight && (action == .close) == (isFirst && !isStopped && end == .failed)
                case .stop:
                    if machine.stop() == .cancel { told += 1 }
                    isStopped = true
                case .leave: if machine.leave() == .tellEnd(scopeToo: true) { told += 1 }
                case .wait:
                    let isFree = !machine.isUnderway || isStopped
                    isRight = isRight && (isFree || machine.wait(from: now).phase == .send)
                case .awaitEnd: isRight = machine.awaitEnd() == machine.isUnderway && isRight
                }
                isRight = isRight && (outcome == nil || outcome == machine.end)
                outcome = machine.end
                isRight = isRight && machine.isStopped == isStopped
                isRight = isRight && machine.mayWrite == (hasBegun && machine.isUnderway && !isStopped)
                isRight = isRight && (!machine.mayReuse || (machine.isComplete && machine.isOver && !isStopped))
                isRight = isRight && (!machine.isOver || !machine.isUnderway)
            }
            isRight = isRight && told <= 1 && (told == 1 || !machine.isOver)
            if !isRight { faults.append(order.map(\.rawValue)) }
        }
        #expect(faults.count == 0, "\(faults.prefix(5))")
    }
}

extension UploadMachine {
    /// The outcome, as a value that can be compared.
    fileprivate var end: `Every order of an upload's events`.End? {
        switch outcome {
        case .complete?: .complete
        case .cut(let byReset)?: byReset ? .reset : .cut
        case .failed?: .failed
        case nil: nil
        }
    }
}

/// A walk through all orders: each step that is possible is taken on a copy, until none is.
///
/// The sender and the reader are steps of their own, and so is what the driver does about an action, for it comes after
/// the lock: others may have gone on by then.
private struct UploadWalk {
    typealias Suite = `Every order of an upload's events`

    enum Step: String {
        case begin, write, writeLast, end, act, leave
        case wait, awaken, answer, readAll, giveUp
    }

    /// Where the reader is.
    enum Reader: Equatable {
        case looking
        case waiting(UploadMachine.Wait)
        case awaitingEnd
        /// It reads the rest, or nothing, and the request's end does not matter to it.
        case done
    }

    let setup: Suite.Setup
    var faults: Set<String> = []
    var ends: [Suite.End] = []

    private var machine = UploadMachine(after: 0)
    private var now = HTTP.Instant(nanoseconds: 100)
    private var history: [Step] = []
    /// What the sender does next; empty when it is over.
    private var sender: [Step] = [.begin, .write, .writeLast, .end, .act, .leave]
    private var reader = Reader.looking
    /// When the wait began that the reader asks about again after it was woken.
    private var waitStart: HTTP.Instant?
    /// What was said and is not yet done.
    private var action: UploadMachine.Action?
    private var isWoken = false
    private var hasAnswered = false
    private var hasGivenUp = false
    private var hasTaken = false
    private var endTime: HTTP.Instant?
    private var counts: [String: Int] = [:]

    init(_ setup: Suite.Setup) {
        self.setup = setup
    }

    private var isStopped: Bool { history.contains(.giveUp) || (hasAnswered && setup.answer == .refusal) }

    // MARK: What is possible

    private var steps: [Step] {
        var steps: [Step] = sender.first.map { [$0] } ?? []
        switch reader {
        case .looking: steps.append(.wait)
        case .waiting, .awaitingEnd: if isWoken { steps.append(.awaken) }
        case .done: break
        }
        if case .waiting = reader {
            if !hasAnswered, setup.answer != .never { steps.append(.answer) }
            if hasAnswered { steps.append(.readAll) }
        }
        if setup.givesUp, !hasGivenUp { steps.append(.giveUp) }
        return steps
    }

    mutating func goOn() {
        let steps = steps
        if steps.isEmpty { return checkEnd() }
        for step in steps {
            var next = self
            next.history.append(step)
            next.now = now.advanced(by: 10)
            next.take(step)
            next.check()
            next.goOn()
            (faults, ends) = (next.faults, next.ends)
        }
    }

    // MARK: Steps

    private mutating func take(_ step: Step) {
        if step == sender.first { sender.removeFirst() }
        switch step {
        case .begin:
            hasTaken = machine.begin() == .send
            expect(hasTaken == !isStopped, "a body is taken if nobody stopped it before")
            if !hasTaken { sender = [.leave] }
        case .write, .writeLast:
            // A driver that may not write ends with an error, which counts for nothing.
            guard machine.mayWrite else { return end(.failed(Suite.End.Broken())) }
            expect(!isStopped, "nothing is written after a stop")
            machine.wrote(upTo: history.count)
            if step == .writeLast { machine.wroteAll() }
        case .end: end(setup.end.outcome)
        case .act: act()
        case .leave: told(machine.leave())
        case .wait:
            waitStart = waitStart ?? now
            reader = .waiting(machine.wait(from: waitStart ?? now))
        case .awaken:
            isWoken = false
            reader = reader == .awaitingEnd && !machine.awaitEnd() ? .done : reader == .awaitingEnd ? reader : .looking
        case .answer: answer()
        case .readAll: reader = !machine.isStopped && machine.awaitEnd() ? .awaitingEnd : .done
        case .giveUp:
            hasGivenUp = true
            told(machine.stop())
            reader = .done
        }
    }

    private mutating func end(_ outcome: UploadMachine.Outcome) {
        sender = [.act, .leave]
        endTime = now
        action = machine.end(outcome, at: now)
        expect(!machine.isUnderway, "the outcome is set before anything is done about it")
        if case .failed = outcome, !isStopped { expect(action == .close, "a failure closes the connection") }
        if isStopped { expect(action == UploadMachine.Action.none, "what ends after a stop is the reader's") }
    }

    private mutating func act() {
        switch action {
        case .wakeReader?: isWoken = true
        case .close?:
            count("closed")
            // The reader's wait ends with an error, and it stops the sender.
            if reader != .done { told(machine.stop()) }
            reader = .done
        default: break
        }
        action = nil
    }

    private mutating func answer() {
        hasAnswered = true
        machine.answered(ResponseHead(status: setup.answer == .refusal ? 413 : .ok))
        expect(machine.isAnsweredEarly == !machine.isComplete, "an answer is early if the request is not complete")
        (reader, waitStart) = (.looking, nil)
        if setup.answer == .refusal { told(machine.stop()) }
    }

    private mutating func told(_ action: UploadMachine.Action) {
        switch action {
        case .cancel: count("scope told")
        case .tellEnd(let scopeToo):
            count("reader told")
            if scopeToo { count("scope told") }
            expect(self.action == nil, "it is over after all it does to the connection")
        case .none: break
        case .send, .wakeReader, .close: expect(false, "\(action) is no action of a stop or a leave")
        }
    }

    // MARK: What must hold

    private mutating func check() {
        expect(machine.mayWrite == false || (hasTaken && !isStopped), "only who took the body may write")
        if hasTaken, !machine.mayHaveSent { expect(machine.outcome != nil, "a body that was taken may have been sent") }
        if machine.mayReuse {
            expect(machine.isComplete && sender.isEmpty && !isStopped, "a connection is kept after whole messages only")
        }
        guard case .waiting(let wait) = reader else { return }
        switch wait.phase {
        case .send: break
        case .firstByte:
            expect(wait.since == endTime && machine.isComplete, "the first byte is due from the request's end on")
            expect(!hasAnswered, "the first byte is due once")
        default:
            expect(hasAnswered, "a body follows a head")
            let isDue = endTime.map { wait.since >= $0 } ?? false
            expect(isDue || isStopped, "silence counts from the request's end on")
        }
    }

    private mutating func checkEnd() {
        expect(counts["reader told"] == 1, "the reader is told of the end once")
        expect(counts["scope told"] == 1, "the scope is released once")
        expect(counts["closed", default: 0] <= 1, "a connection is closed once")
        expect(!isWoken || reader == .done, "nobody sleeps who was woken")
        switch reader {
        case .waiting(let wait):
            // Nobody waits without a limit for a peer that has everything.
            let isDue = !machine.isComplete || wait.phase != .send
            expect(isDue, "a peer that has the request owes an answer")
        case .awaitingEnd: expect(false, "an end that came is awaited")
        case .looking, .done: break
        }
        expect(machine.end != nil, "there is an outcome")
        if let end = machine.end { ends.append(end) }
    }

    private mutating func count(_ what: String) { counts[what, default: 0] += 1 }

    private mutating func expect(_ condition: Bool, _ rule: String) {
        if !condition, faults.count < 10 { faults.insert("\(rule): \(history.map(\.rawValue))") }
    }
}
