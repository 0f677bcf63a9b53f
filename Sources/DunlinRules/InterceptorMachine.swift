/// Decides whether an interceptor may have a request sent.
///
/// Rules:
/// 1. It may send again only after the last sending has ended: a call has one exchange at a time.
/// 2. The number of sendings is limited, so that an interceptor that always sends again does not continue for ever.
/// 3. After it has returned its response, it may not send, since nobody would wait for the result.
package struct InterceptorMachine {
    package enum Refusal: Equatable {
        case atOnce
        case tooOften(Int)
        case late
    }

    static let mostSends = 100

    private enum State {
        case resting
        case sending
        case over
    }

    private var state = State.resting
    private var sends = 0

    package init() {}

    package var hasSent: Bool { sends > 0 }

    /// Begins a sending. Returns nil if it is allowed.
    package mutating func begin() -> Refusal? {
        switch state {
        case .over: return .late
        case .sending: return .atOnce
        case .resting:
            guard sends < Self.mostSends else { return .tooOften(Self.mostSends) }
            sends += 1
            state = .sending
            return nil
        }
    }

    /// Notes that its sending was answered or failed.
    package mutating func answered() {
        if case .sending = state { state = .resting }
    }

    /// Notes that it returned or threw.
    package mutating func end() {
        state = .over
    }
}

extension InterceptorMachine.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .atOnce: "called `next` while an earlier call of it was running: wait for that, or cancel it, first"
        case .tooOften(let limit): "called `next` more than \(limit) times for one request"
        case .late: "called `next` after it had returned"
        }
    }
}
