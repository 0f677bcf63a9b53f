import Dunlin
import LedgerRows
import Testing

@testable import DunlinSession

@Suite struct `The rules of reconnecting` {
    typealias Machine = ReconnectionMachine

    private static let policy = HTTPSession.RetryPolicy.exponential(
        attempts: 4, base: .seconds(1), cap: .seconds(8), when: [.connectionFailure, .timeout, .status(503)])
    private static let broken = Machine.End.broken(.failed(.connection, isSafe: true))
    private static let delivered = Machine.Notes(lastEventID: "", retry: nil, time: 1)

    private static func machine(
        _ settings: HTTPSession.EventSettings = .init(), until sentinel: String? = nil, after id: String = "",
        isIdempotent: Bool = true, policy: HTTPSession.RetryPolicy = policy
    ) -> Machine {
        Machine(settings, policy, until: sentinel, after: id, isIdempotent: isIdempotent)
    }

    /// All of each random wait is waited.
    private static func now(canSendBody: Bool = true, timeLeft: Int64 = .max) -> RetryMachine.Circumstances {
        .init(canSendBody: canSendBody, timeLeft: timeLeft, chance: .max)
    }

    private static func reconnect(_ milliseconds: Int64, isFree: Bool) -> Machine.Action {
        .reconnect(after: milliseconds * 1_000_000, isFree: isFree)
    }

    static let waits: [(asked: Duration?, milliseconds: Int64)] = [
        (nil, 1500), (.zero, 500), (.milliseconds(499), 500), (.seconds(3), 3000),
        (.milliseconds(1_000_000_000_000), 300_000), (.seconds(Int64.max), 300_000),
    ]

    @Test(arguments: waits, [true, false])
    func `a stream that delivered an event is requested again for free, after what the server asked for`(
        wait: (asked: Duration?, milliseconds: Int64), isBroken: Bool
    ) {
        var machine = Self.machine()
        for attempt in 2...10_001 {
            _ = machine.received("a")
            let notes = Machine.Notes(lastEventID: "\(attempt)", retry: wait.asked)
            let action = machine.ended(isBroken ? Self.broken : .complete, notes, Self.now())
            guard action == Self.reconnect(wait.milliseconds, isFree: true), machine.attempt == attempt else {
                Issue.record("attempt \(attempt): \(action)")
                return
            }
        }
        #expect(machine.lastEventID == "10001")
    }

    @Test(.rules("6455-7.2.3-2"), arguments: [true, false])
    func `failed attempts wait longer each time, until there are as many as the policy allows`(isEmpty: Bool) {
        var machine = Self.machine()
        let end = isEmpty ? Machine.End.complete : Self.broken
        for _ in 0..<2 {
            let actions = [
                machine.ended(end, Self.now()), machine.ended(end, Self.now()), machine.ended(end, Self.now()),
            ]
            #expect(
                actions == [
                    Self.reconnect(1500, isFree: false), Self.reconnect(2500, isFree: false),
                    Self.reconnect(4500, isFree: false),
                ])
            // An event begins the count anew.
            _ = machine.received("a")
            let action = machine.ended(end, Self.now())
            #expect(action == Self.reconnect(1500, isFree: true))
        }
        for _ in 0..<3 { _ = machine.ended(end, Self.now()) }
        let last = machine.ended(end, Self.now())
        #expect(last == .fail(.attemptsSpent))
    }

    @Test func `a failed attempt adds its wait to what the server asked for`() {
        var machine = Self.machine()
        let notes = Machine.Notes(retry: .seconds(3))
        let actions = [machine.ended(Self.broken, notes, Self.now()), machine.ended(Self.broken, Self.now())]
        #expect(actions == [Self.reconnect(4000, isFree: false), Self.reconnect(5000, isFree: false)])
    }

    @Test(arguments: [(Int64(0), false), (7_999_999_999, false), (8_000_000_000, true)])
    func `a stream without events is no failed attempt if it was open for long`(time: Int64, isFree: Bool) {
        var machine = Self.machine()
        let action = machine.ended(.complete, .init(lastEventID: "", time: time), Self.now())
        #expect(action == Self.reconnect(1500, isFree: isFree))
    }

    @Test func `without a wait in its policy no stream was open for long`() {
        var machine = Self.machine(policy: .never)
        let notes = Machine.Notes(lastEventID: "", time: 1_000_000_000)
        #expect(machine.ended(.complete, notes, Self.now()) == .fail(nil))
    }

    static let ends: [(end: Machine.End, action: Machine.Action)] = [
        (.noContent, .finish),
        (.broken(.answered(404, isIdempotent: true)), .fail(nil)),
        (.broken(.answered(500, isIdempotent: true)), .fail(nil)),
        (.broken(.answered(503, isIdempotent: true)), reconnect(1500, isFree: false)),
        (.broken(.answered(503, isIdempotent: true, retryAfter: 2_000_000_000)), reconnect(3500, isFree: true)),
        (.broken(.answered(503, isIdempotent: true, retryAfter: 61_000_000_000)), .fail(.retryAfterTooLong)),
        (.broken(.failed(.timeout, isSafe: true)), reconnect(1500, isFree: false)),
        (.broken(.failed(.other, isSafe: true)), .fail(nil)),
    ]

    @Test(arguments: ends)
    func `the policy says after which outcomes a stream is requested again`(
        row: (end: Machine.End, action: Machine.Action)
    ) {
        var machine = Self.machine()
        let action = machine.ended(row.end, Self.now())
        #expect(action == row.action)
    }

    @Test func `without a reason in the policy a broken stream is over, though it delivered events`() {
        var machine = Self.machine(policy: .never)
        _ = machine.received("a")
        let actions = [machine.ended(Self.broken, Self.delivered, Self.now())]
        #expect(actions == [.fail(nil)])
    }

    /// What becomes of a stream whose request may have taken effect, by its end.
    @Test(arguments: [nil, "[DONE]"])
    func `a stream whose request may not be repeated ends with its response`(sentinel: String?) {
        let end: Machine.Action = sentinel == nil ? .finish : .cutShort
        let unsafe = Machine.End.broken(.failed(.connection, isSafe: false))
        for (settings, canSendBody, isIdempotent) in [
            (HTTPSession.EventSettings(), true, false), (.init(reconnects: false), true, true), (.init(), false, true),
            (.init(repeatsNonIdempotent: true), false, false),
        ] {
            var machine = Self.machine(settings, until: sentinel, isIdempotent: isIdempotent)
            _ = machine.received("a")
            let complete = machine.ended(.complete, Self.now(canSendBody: canSendBody))
            #expect(complete == end)
            let broken = machine.ended(unsafe, Self.now(canSendBody: canSendBody))
            guard case .fail = broken else {
                Issue.record("\(broken)")
                continue
            }
        }
        var asked = Self.machine(.init(repeatsNonIdempotent: true), until: sentinel, isIdempotent: false)
        _ = asked.received("a")
        let actions = [
            asked.ended(.complete, .init(lastEventID: "1"), Self.now()), asked.ended(unsafe, Self.now()),
        ]
        #expect(actions == [Self.reconnect(1500, isFree: true), Self.reconnect(1500, isFree: false)])
    }

    /// A POST that the caller's word, a policy or a key lets repeat, whose server sends no ID.
    @Test(arguments: [0, 1, 2], [nil, "[DONE]"])
    func `a request that begins anew each time is not sent again after its first event`(word: Int, sentinel: String?) {
        var policy = Self.policy
        policy.retriesNonIdempotent = word == 1
        func machine(_ settings: HTTPSession.EventSettings = .init()) -> Machine {
            var settings = settings
            settings.repeatsNonIdempotent = word == 0
            return Machine(
                settings, policy, until: sentinel, after: "of the caller", isIdempotent: false, hasKey: word == 2)
        }
        let status = Machine.End.broken(.answered(503, isIdempotent: false, mayHaveWorked: true))
        var strict = machine()
        #expect(strict.ended(Self.broken, Self.now()) == Self.reconnect(1500, isFree: false))
        #expect(strict.ended(status, Self.now()) == Self.reconnect(2500, isFree: false))
        _ = strict.received("a")
        let notes = Machine.Notes(lastEventID: "of the caller", time: .max)
        var (ended, broken) = (strict, strict)
        #expect(ended.ended(.complete, notes, Self.now()) == (sentinel == nil ? .finish : .cutShort))
        #expect(broken.ended(Self.broken, notes, Self.now()) == .fail(.notResumable))

        var loose = machine(.init(beginsAnew: true))
        for wait in [1500, 2500, 4500] as [Int64] {
            _ = loose.received("a")
            #expect(loose.ended(.complete, Self.now()) == Self.reconnect(wait, isFree: false) && loose.beginsAnew)
        }
        _ = loose.received("a")
        #expect(loose.ended(.complete, Self.now()) == .fail(.attemptsSpent))

        var resumed = machine()
        _ = resumed.received("a")
        #expect(resumed.ended(.complete, .init(lastEventID: "1"), Self.now()) == Self.reconnect(1500, isFree: true))
        for wait in [1500, 2500, 4500] as [Int64] {
            _ = resumed.received("a")
            let action = resumed.ended(.complete, .init(lastEventID: "1"), Self.now())
            #expect(action == Self.reconnect(wait, isFree: false) && !resumed.beginsAnew)
        }
    }

    @Test func `the sentinel ends a stream and is no event`() {
        var machine = Self.machine(until: "[DONE]")
        let received = ["a", "[DONE] ", "[DONE]"].map { machine.received($0) }
        #expect(received == [true, true, false])
    }

    static let ids: [(String, isUsed: Bool)] = [
        ("", true), ("7", true), ("a b", true), ("ü😀", true), (String(repeating: "x", count: 1024), true),
        (String(repeating: "x", count: 1025), false), ("a\u{1}", false), ("a\tb", false), ("\u{7F}", false),
        (" a", false), ("a ", false), ("a\r\nX-Other: b", false),
    ]

    @Test(arguments: ids)
    func `an ID that cannot be sent is not used, and the one before it is`(id: (String, isUsed: Bool)) {
        var machine = Self.machine(after: "1")
        _ = machine.ended(Self.broken, .init(lastEventID: id.0), Self.now())
        #expect(machine.lastEventID == (id.isUsed ? id.0 : "1"))
    }

    @Test func `an attempt that says nothing of IDs and waits changes neither`() {
        var machine = Self.machine(after: "1")
        _ = machine.ended(Self.broken, .init(lastEventID: "2", retry: .seconds(3)), Self.now())
        let action = machine.ended(Self.broken, Self.now())
        #expect(machine.lastEventID == "2" && action == Self.reconnect(5000, isFree: false))
    }

    @Test func `there is no other attempt for which there is no time`() {
        var machine = Self.machine()
        let action = machine.ended(Self.broken, Self.now(timeLeft: 1_000_000_000))
        #expect(action == .fail(.deadline))
    }
}

extension ReconnectionMachine {
    /// The end of an attempt that got no response.
    fileprivate mutating func ended(_ end: End, _ now: RetryMachine.Circumstances) -> Action {
        ended(end, Notes(), now)
    }
}
