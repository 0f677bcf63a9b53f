import Dunlin
import DunlinCommandLine
import DunlinDisplay

/// Several transfers at once, with a line for each and one for all. None ends another by failing.
struct TransferRun<Value: Sendable>: Sendable {
    typealias Outcome = Transfer<Value>.Outcome

    /// What came of a run.
    struct Result: Sendable {
        /// The outcomes in the order of the transfers.
        var outcomes: [Outcome]
        var signal: Interruption.Signal?
    }

    let transfers: [Transfer<Value>]
    /// Where the lines are; nil if nothing is shown.
    let display: TerminalDisplay?
    /// Makes an outcome of what a task brought. It may wait.
    let judge: @Sendable (_ index: Int, Swift.Result<HTTPSession.Response<Value>, any Error>) async -> Outcome

    func run() async -> Result {
        let (outcomes, signal) = await Interruption.during {
            await self.outcomes()
        } stop: {
            for transfer in transfers { transfer.task.cancel() }
        }
        await display?.finish()
        return Result(outcomes: outcomes, signal: signal)
    }

    private func outcomes() async -> [Outcome] {
        for transfer in transfers {
            transfer.bar?.followUntilEnded(transfer.task, transfer.direction)
            transfer.task.resume()
        }
        var total = TransferTotal(of: transfers.count, on: transfers.count > 1 ? display : nil)
        return await withTaskGroup(of: (Int, Outcome)?.self) { group in
            for (index, transfer) in transfers.enumerated() {
                group.addTask {
                    let outcome = await judge(index, transfer.task.result)
                    transfer.show(outcome)
                    return (index, outcome)
                }
            }
            // It has the total drawn while nothing ends.
            if total.isShown { group.addTask { await Self.tick() } }
            var outcomes = [Outcome?](repeating: nil, count: transfers.count)
            var left = transfers.count
            while left > 0, let event = await group.next() {
                if let (index, outcome) = event {
                    (outcomes[index], left) = (outcome, left - 1)
                    total.end(index, transfers[index].progress, isFailure: outcome.isFailure)
                } else {
                    group.addTask { await Self.tick() }
                }
                total.show { transfers[$0].progress }
            }
            group.cancelAll()
            return outcomes.map { $0 ?? .stopped }
        }
    }

    private static func tick() async -> (Int, Outcome)? {
        await TransferTotal.tick()
        return nil
    }
}
