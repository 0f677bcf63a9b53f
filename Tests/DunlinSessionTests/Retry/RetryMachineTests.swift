import Dunlin
import LedgerRows
import Testing

@testable import DunlinSession

@Suite struct `Retry machine` {
    typealias Policy = HTTPSession.RetryPolicy
    typealias Machine = RetryMachine
    typealias Action = RetryMachine.Action

    private static let second: Int64 = 1_000_000_000
    private static let policy = Policy.exponential(attempts: 3, base: .seconds(1), cap: .seconds(60))
    private static let certain = Machine.Circumstances(chance: .max)

    private static func first(
        _ outcome: Machine.Outcome, _ policy: Policy = policy, hasKey: Bool = false,
        now: Machine.Circumstances = certain
    ) -> Action {
        var machine = Machine(policy, hasKey: hasKey)
        return machine.ended(outcome, now)
    }

    private static func answered(_ status: HTTP.Status, after seconds: Int64? = nil) -> Machine.Outcome {
        .answered(status, isIdempotent: true, retryAfter: seconds.map { $0.multipliedReportingOverflow(by: second).0 })
    }

    @Test(
        .rules("9110-15-1"),
        arguments: [
            (200, nil), (301, nil), (400, nil), (401, nil), (404, nil), (408, 1), (409, nil), (425, 1), (429, 1),
            (500, nil), (501, nil), (502, 1), (503, 1), (504, 1), (505, nil),
        ] as [(Int, Int64?)])
    func `only a status that says that it may pass is tried again by default`(status: Int, seconds: Int64?) {
        let action = Self.first(Self.answered(HTTP.Status(status)))
        #expect(action == seconds.map { .retry(after: $0 * Self.second) } ?? .settle(nil))
    }

    @Test func `only what the policy names is tried again`() {
        let outcomes: [(Machine.Outcome, Policy.Condition?)] = [
            (.failed(.connection, isSafe: true), .connectionFailure), (.failed(.timeout, isSafe: true), .timeout),
            (Self.answered(500), .status(500)), (Self.answered(204), .status(204)),
            (.failed(.other, isSafe: true), nil),
        ]
        for (outcome, condition) in outcomes {
            for (_, other) in outcomes {
                let policy = Policy.constant(attempts: 2, every: .zero, when: other.map { [$0] } ?? [])
                let expected: Action = condition != nil && other == condition ? .retry(after: 0) : .settle(nil)
                #expect(Self.first(outcome, policy) == expected)
            }
        }
    }

    /// Outcome; whether it is tried again by itself; never is it refused with a key or when the user says so.
    private static let safety: [(Machine.Outcome, Bool)] = [
        (.failed(.connection, isSafe: true), true), (.failed(.connection, isSafe: false), false),
        (.failed(.timeout, isSafe: true), true), (.failed(.timeout, isSafe: false), false),
        (.answered(503, isIdempotent: true), true), (.answered(503, isIdempotent: false), false),
        (.answered(502, isIdempotent: false), false), (.answered(504, isIdempotent: false), false),
        (.answered(408, isIdempotent: false), true), (.answered(425, isIdempotent: false), true),
        (.answered(429, isIdempotent: false), true), (.answered(429, isIdempotent: true, mayHaveWorked: true), true),
        (.answered(429, isIdempotent: false, mayHaveWorked: true), false),
        (.answered(408, isIdempotent: false, mayHaveWorked: true), false),
    ]

    @Test(arguments: safety.indices)
    func `a request that may be done already is not tried again, unless that is allowed`(row: Int) {
        let (outcome, isSafe) = Self.safety[row]
        let retry = Action.retry(after: Self.second)
        #expect(Self.first(outcome) == (isSafe ? retry : .settle(.notSafe)))
        #expect(Self.first(outcome, hasKey: true) == retry)
        var policy = Self.policy
        policy.retriesNonIdempotent = true
        #expect(Self.first(outcome, policy) == retry)
    }

    @Test func `a request whose body cannot be sent again is not tried again`() {
        let now = Machine.Circumstances(canSendBody: false, chance: .max)
        #expect(Self.first(.failed(.connection, isSafe: true), hasKey: true, now: now) == .settle(.bodyNotReplayable))
        #expect(Self.first(Self.answered(200), now: now) == .settle(nil))
    }

    @Test(
        arguments: [
            (1, .milliseconds(100), .seconds(10), []), (2, .milliseconds(100), .seconds(10), [100]),
            (9, .milliseconds(100), .seconds(10), [100, 200, 400, 800, 1600, 3200, 6400, 10_000]),
            (4, .seconds(3), .seconds(3), [3000, 3000, 3000]), (3, .zero, .seconds(1), [0, 0]),
        ] as [(Int, Duration, Duration, [Int64])])
    func `each wait is twice as long, up to the cap, until the attempts are spent`(
        attempts: Int, base: Duration, cap: Duration, milliseconds: [Int64]
    ) {
        var policy = Policy.exponential(attempts: attempts, base: base, cap: cap)
        policy.jitter = .none
        var machine = Machine(policy)
        let actions = (0..<attempts + 1).map { _ in machine.ended(Self.answered(503), .init()) }
        let retries = milliseconds.map { Action.retry(after: $0 * 1_000_000) }
        #expect(actions == retries + [.settle(.attemptsSpent), .settle(.attemptsSpent)])
    }

    @Test func `a wait that is longer than time lasts is not begun, whatever the policy`() {
        let longest = Duration.seconds(Int64.max)
        var policy = Policy.exponential(attempts: .max, base: longest, cap: longest)
        policy.retryAfterLimit = longest
        #expect(Self.first(.answered(503, isIdempotent: true, retryAfter: .max), policy) == .settle(.deadline))
        #expect(Self.first(Self.answered(503), policy, now: .init(timeLeft: .max, chance: .max)) == .settle(.deadline))
    }

    @Test func `chance decides how much of a wait is waited`() {
        let quarter: UInt64 = .max / 4
        let chances: [UInt64] = [0, quarter, 2 * quarter, 3 * quarter, .max]
        for (part, chance) in chances.enumerated() {
            let wait = Int64(part) * (Self.second / 4)
            #expect(Self.first(Self.answered(503), now: .init(chance: chance)) == .retry(after: wait))
        }
        var policy = Self.policy
        policy.jitter = .none
        #expect(Self.first(Self.answered(503), policy, now: .init(chance: 0)) == .retry(after: Self.second))
    }

    /// Seconds that the server asks for, seconds left, and what comes of it.
    @Test(
        arguments: [
            (0, 100, .retry(after: 0)), (7, 100, .retry(after: 7 * second, isAsked: true)),
            (60, 100, .retry(after: 60 * second, isAsked: true)), (1, 100, .retry(after: second, isAsked: true)),
            (61, 100, .settle(.retryAfterTooLong)), (.max / second, 100, .settle(.retryAfterTooLong)),
            (7, 7, .settle(.deadline)), (7, 8, .retry(after: 7 * second, isAsked: true)), (nil, 0, .settle(.deadline)),
            (nil, -5, .settle(.deadline)), (61, 7, .settle(.retryAfterTooLong)),
        ] as [(Int64?, Int64, Action)])
    func `a wait lasts as long as the server asks, if that is not too long`(
        asked: Int64?, left: Int64, expected: Action
    ) {
        let now = Machine.Circumstances(timeLeft: left * Self.second, chance: 0)
        #expect(Self.first(Self.answered(503, after: asked), now: now) == expected)
    }

    @Test(arguments: [(nil, false), (0, false), (second - 1, false), (second, true), (60 * second, true)])
    func `a request is asked back only by a server that names a time of at least a second`(asked: Int64?, isAsked: Bool)
    {
        let outcome = Machine.Outcome.answered(503, isIdempotent: true, retryAfter: asked)
        let now = Machine.Circumstances(chance: 0)
        #expect(Self.first(outcome, now: now) == .retry(after: asked ?? 0, isAsked: isAsked))
        #expect(Self.first(.failed(.connection, isSafe: true), now: now) == .retry(after: 0))
    }

    @Test func `a request waits its own time in addition to the server's`() {
        #expect(Self.first(Self.answered(429, after: 2)) == .retry(after: 3 * Self.second, isAsked: true))
    }

    @Test func `failures that may pass are told from those that stay`() {
        func failure(
            _ code: NetworkError.Code, _ phase: HTTP.Phase? = nil, exceeding limit: Timeouts.Limit? = nil,
            _ cause: (any Error)? = nil
        ) -> Machine.Failure {
            Machine.Failure(NetworkError(code, "", phase: phase, exceeding: limit, underlying: cause))
        }
        let stays: [NetworkError.Code] = [
            .invalidRequest, .invalidConfiguration, .invalidResponse, .invalidContent, .limitExceeded, .poolExhausted,
            .queueFull, .cancelled, .unacceptableStatus, .unacceptableContentType, .bodyConsumed, .bodyNotReplayable,
            .fileUnreadable, .tooManyRedirects, .insecureRedirect, .sessionShutDown, .secureConnectionFailed,
            .serverTrustFailed, .clearTextRefused, .interfaceRefused, .guardRefused, .unusableCredential,
            .digestMismatch, .upgradeRefused, .webSocketFailed,
        ]
        #expect(stays.allSatisfy { failure($0) == .other })
        #expect(failure(.connectionFailed) == .connection && failure(.connectionClosed, .receive) == .connection)
        for phase in HTTP.Phase.allCases {
            let expected: Machine.Failure = phase == .pool ? .other : .timeout
            #expect(failure(.timedOut, phase) == expected)
            #expect(failure(.timedOut, phase, exceeding: Timeouts.Limit(phase)) == expected)
            #expect(failure(.timedOut, phase, exceeding: .total) == .other)
        }
        let kinds: [(ResolverError.Kind, Machine.Failure)] = [
            (.noSuchName, .other), (.overloaded, .other), (.unanswered, .connection),
        ]
        for (kind, expected) in kinds {
            #expect(failure(.nameNotResolved, .resolve, ResolverError(kind, "")) == expected)
        }
        #expect(Machine.Failure(CancellationError()) == .other)
    }

    @Test func `a call that got no credential failed as its refresh did`() {
        func failure(_ cause: NetworkError) -> Machine.Failure {
            let inner = NetworkError(.authenticationFailed, "", underlying: cause)
            let outer = NetworkError(.authenticationFailed, "", underlying: inner)
            #expect(Machine.Failure(outer) == Machine.Failure(inner))
            return Machine.Failure(inner)
        }
        #expect(failure(NetworkError(.connectionClosed, "")) == .connection)
        let refused = NetworkError(.unacceptableStatus, "", response: ResponseHead(status: 503))
        #expect(failure(refused) == .status(503) && Machine.Failure(refused) == .other)
        #expect(failure(NetworkError(.timedOut, "", phase: .firstByte)) == .timeout)
        #expect(failure(NetworkError(.timedOut, "", exceeding: .total)) == .timeout, "that limit is the refresh's")
        #expect(failure(NetworkError(.timedOut, "", phase: .pool)) == .other)
        #expect(failure(NetworkError(.serverTrustFailed, "")) == .other)
        let asked = Self.first(.failed(.status(503), isSafe: true, retryAfter: 7 * Self.second))
        #expect(asked == .retry(after: 8 * Self.second, isAsked: true))
        #expect(Self.first(.failed(.status(400), isSafe: true)) == .settle(nil))
    }
}
