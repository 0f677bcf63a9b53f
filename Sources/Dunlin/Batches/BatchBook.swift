internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// What has become of a batch's requests so far. Each writes its own line; whoever counts the last one settles.
final class BatchBook<Ending: Sendable>: TallyFollower {
    let settlement = Settlement<[Ending]>()
    let progress: Bulletin<HTTPSession.BatchProgress>
    private let endings: Mutex<[Ending?]>

    var state: HTTPSession.BatchProgress { progress.value }

    init(_ count: Int, on loop: Reactor) {
        progress = Bulletin(HTTPSession.BatchProgress(total: count), on: loop)
        endings = Mutex(Array(repeating: nil, count: count))
        if count == 0 { settlement.settle([]) }
    }

    /// To be told once of each request, when all it moved has been told.
    func ended(_ index: Int, _ ending: Ending, isWell: Bool) {
        // Written before it is counted: who counts the last finds all of them written.
        endings.withLock { $0[index] = ending }
        guard let (_, after) = progress.change({ $0.ended(well: isWell) }), after.isFinal else { return }
        settlement.settle(endings.withLock { $0.compactMap(\.self) })
    }

    func moved(sent: Int, received: Int) {
        progress.change { $0.moved(sent: sent, received: received) }
    }
}
