/// Decides who asks a session's hook about a protection space, and who waits for what it says.
///
/// Rules:
/// 1. There is one question at a time about a space. Who comes meanwhile waits, and gets what the hook says.
/// 2. A credential that the hook gave is kept until a server has judged it: who comes until then tries it first.
/// 3. If the one who asked leaves without an answer, those who wait come again, and the first of them asks.
/// 4. Credentials that nobody judges are kept for a number of spaces; beyond it all of them are forgotten.
package struct QuestionMachine<Space: Hashable, Credential, Waiter> {
    package enum Action {
        /// Ask, and say what came of the question of this number.
        case ask(UInt64)
        /// Wait under this number.
        case wait(UInt64)
        /// Try what the question of this number has brought.
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

    /// Somebody has been challenged.
    package mutating func came(_ space: Space, _ waiter: Waiter) -> Action {
        lastNumber += 1
        switch states[space] {
        case .given(let credential, let number): return .take(credential, number)
        case .asking(let number, var waiters):
            waiters[lastNumber] = waiter
            states[space] = .asking(number, waiters: waiters)
            return .wait(lastNumber)
        case nil:
            states[space] = .asking(lastNumber, waiters: [:])
            return .ask(lastNumber)
        }
    }

    /// A question has been answered, with a credential or without. Returns those who wait for it.
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

    /// A server has accepted or refused what the question of this number has brought.
    package mutating func judged(_ space: Space, _ number: UInt64) {
        if case .given(_, number) = states[space] { states[space] = nil }
    }

    /// Somebody waits no longer.
    package mutating func left(_ space: Space, _ waiter: UInt64) {
        guard case .asking(let number, var waiters) = states[space] else { return }
        waiters[waiter] = nil
        states[space] = .asking(number, waiters: waiters)
    }
}
