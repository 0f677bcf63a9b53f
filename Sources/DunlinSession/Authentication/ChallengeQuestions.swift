internal import DunlinReactor
internal import DunlinRules
internal import DunlinTransport
internal import Synchronization

/// Asks a session's hook one question at a time about each protection space, by the rules of `QuestionMachine`.
final class ChallengeQuestions: Sendable {
    typealias Credential = HTTPSession.AuthenticationChallenge.Credential
    typealias Answer = HTTPSession.AuthenticationChallenge.Answer
    private typealias Waiter = ValueWaiter<(Answer, UInt64)?>

    struct Space: Hashable, Sendable {
        let origin: String
        let space: HTTPSession.AuthenticationChallenge.ProtectionSpace
    }

    /// The question that brought an answer.
    struct Mark: Sendable {
        fileprivate let questions: ChallengeQuestions
        fileprivate let space: Space
        fileprivate let number: UInt64

        /// Notes that a server has accepted or refused the answer.
        func judged() { questions.machine.withLock { $0.judged(space, number) } }
    }

    private let machine = Mutex(QuestionMachine<Space, Credential, Waiter>())

    /// The hook's response, perhaps to an earlier question by another request. If `isRefused` returns true for it, it
    /// is not used again, and `ask` asks anew.
    func response(
        about space: Space, _ sending: Sending, isRefused: (Credential) -> Bool, _ ask: () async throws -> Answer
    ) async throws -> (Answer, Mark) {
        while true {
            let waiter = Waiter(on: sending.loop)
            let response: Answer
            let number: UInt64
            let mayWait = sending.session.owner.mayBeAwaitedForAnswers
            switch machine.withLock({ $0.came(space, waiter, mayWait: mayWait) }) {
            case .take(let credential, let given): (response, number) = (.useCredential(credential), given)
            case .ask(let own):
                return (try await answer(space, own, ask), Mark(questions: self, space: space, number: own))
            case .askAlone: return (try await ask(), Mark(questions: self, space: space, number: 0))
            case .wait(let questionNumber):
                guard let reply = try await wait(waiter, space, questionNumber, sending) else { continue }
                (response, number) = reply
            }
            let mark = Mark(questions: self, space: space, number: number)
            if case .useCredential(let credential) = response, isRefused(credential) {
                mark.judged()
                continue
            }
            return (response, mark)
        }
    }

    private func answer(
        _ space: Space, _ number: UInt64, _ ask: () async throws -> Answer
    ) async throws -> Answer {
        do {
            let response = try await ask()
            var credential: Credential?
            if case .useCredential(let given) = response { credential = given }
            let waiters = machine.withLock { [credential] in $0.answered(space, number, credential) }
            for waiter in waiters { _ = waiter.deliver((response, number)) }
            return response
        } catch {
            for waiter in machine.withLock({ $0.answered(space, number, nil) }) { _ = waiter.deliver(nil) }
            throw error
        }
    }

    /// Waits for the response to another request's question; nil if that request ended without one.
    private func wait(
        _ waiter: Waiter, _ space: Space, _ questionNumber: UInt64, _ sending: Sending
    ) async throws -> (Answer, UInt64)? {
        do {
            return try await sending.value(
                of: waiter, isUnsent: false, late: "timed out waiting for an answer to the challenge")
        } catch {
            machine.withLock { $0.left(space, questionNumber) }
            throw error
        }
    }
}
