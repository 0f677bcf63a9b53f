/// Decides who asks a session's hook about a protection space, and who waits for its answer.
///
/// Rules:
/// 1. There is one question at a time about a space. Later requests wait and get the same answer. One that may not wait
///    has a question of its own.
/// 2. The hook's credential is kept until a server has accepted or refused it; requests that come before try it first.
/// 3. If the asking request leaves without an answer, the waiting ones return, and the first of them asks.
/// 4. Credentials that no server has accepted or refused are kept for a limited number of spaces; beyond it all of them
///    are forgotten.
package struct QuestionMachine<Space: Hashable, Credential, Waiter> {
    package enum Action {
        /// Ask, and report the result of the question with this number.
        case ask(UInt64)
        /// Wait with this number.
        case wait(UInt64)
        /// Ask for this request alone.
        case askAlone
        /// Try the credential from the question with this number.
        case take(Credential, UInt64)
    }

    private enum State {
        case asking(UInt64, waiters: [UInt64: Waiter])
        case given(Credential, UInt64)
    }

    private static var mostGiven: Int { 100 }

    private var states: [Space: State] = [:]
    private var lastNumber: UInt64 = 0

    package init() {}

    /// Notes that a request was challenged. Returns what to do. `mayWait`: whether it may wait for another's answer.
    package mutating func came(
        _ space: Space, _ waiter: Waiter, mayWait: @autoclosure () -> Bool = true
    ) -> Action {
        lastNumber += 1
        switch states[space] {
        case .given(let credential, let number): return .take(credential, number)
        case .asking where !mayWait(): return .askAlone
        case .asking(let number, var waiters):
            waiters[lastNumber] = waiter
            states[space] = .asking(number, waiters: waiters)
            return .wait(lastNumber)
        case nil:
            states[space] = .asking(lastNumber, waiters: [:])
            return .ask(lastNumber)
        }
    }

    /// Notes the answer to a question, with or without a credential. Returns its waiters.
    package mutating func answered(_ space: Space, _ number: UInt64, _ credential: Credential?) -> [Waiter] {
        guard case .asking(number, let waiters) = states[space] else { return [] }
        states[space] = nil
        guard let credential else { return Array(waiters.values) }
        if states.count >= Self.mostGiven {
            states = states.filter { if case .asking = $0.value { true } else { false } }
        }
        states[space] = .given(credential, number)
        return Array(waiters.values)
    }

    /// Notes that a server has accepted or refused the credential from this question.
    package mutating func judged(_ space: Space, _ number: UInt64) {
        if case .given(_, number) = states[space] { states[space] = nil }
    }

    /// Removes a waiter.
    package mutating func left(_ space: Space, _ waiter: UInt64) {
        guard case .asking(let number, var waiters) = states[space] else { return }
        waiters[waiter] = nil
        states[space] = .asking(number, waiters: waiters)
    }
}
