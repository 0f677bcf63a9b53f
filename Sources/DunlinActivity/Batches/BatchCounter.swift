internal import DunlinReactor
internal import DunlinTransport

/// Counts a batch's requests and their outcomes. Counting the last one settles the batch.
final class BatchCounter: TallyObserver {
    let settlement = Settlement<Void>()
    let progress: ObservableValue<HTTPSession.BatchProgress>

    var state: HTTPSession.BatchProgress { progress.value }

    init(_ count: Int, on loop: Reactor) {
        progress = ObservableValue(HTTPSession.BatchProgress(total: count), on: loop)
        if count == 0 { settlement.settle(()) }
    }

    /// Counts the end of a request. Call it once for each, when it is settled and all its bytes have been counted.
    func ended(isWell: Bool) {
        guard let (_, after) = progress.change({ $0.ended(well: isWell) }), after.isFinal else { return }
        settlement.settle(())
    }

    func moved(sent: Int, received: Int) {
        progress.change { $0.moved(sent: sent, received: received) }
    }
}
