internal import DunlinReactor
internal import DunlinTransport

/// Counts what has become of a batch's requests so far; whoever counts the last one settles.
final class BatchBook: TallyObserver {
    let settlement = Settlement<Void>()
    let progress: ObservableValue<HTTPSession.BatchProgress>

    var state: HTTPSession.BatchProgress { progress.value }

    init(_ count: Int, on loop: Reactor) {
        progress = ObservableValue(HTTPSession.BatchProgress(total: count), on: loop)
        if count == 0 { settlement.settle(()) }
    }

    /// To be told once of each request, when it is settled and all it moved has been told.
    func ended(isWell: Bool) {
        guard let (_, after) = progress.change({ $0.ended(well: isWell) }), after.isFinal else { return }
        settlement.settle(())
    }

    func moved(sent: Int, received: Int) {
        progress.change { $0.moved(sent: sent, received: received) }
    }
}
