/// Decides whether an interceptor may have a request sent.
///
/// Rules:
/// 1. It may send again once the last sending has ended, and not before: a call has one exchange at a time.
/// 2. It may send up to a limit, so that one which sends again whatever comes does not go on for ever.
/// 3. Once it has returned its response, it may send no more: nobody waits for what would come.
package struct InterceptorMachine {
    package enum Refusal: Equatable {
        case atOnce
        case tooOften(Int)
        case late
    }

    package static let mostSends = 100

    private enum State {
        case resting
        case sending
        case over
    }

    private var state = State.resting
    private var sends = 0

    package init() {}

    package var hasSent: Bool { sends > 0 }

    /// It wants to send; nil if it may.
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

    /// What it sent was answered, or failed.
    package mutating func answered() {
        if case .sending = state { state = .resting }
    }

    /// It returned or threw.
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
