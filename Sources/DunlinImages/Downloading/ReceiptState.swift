internal import Synchronization

/// What a receipt and its downloader share: the progress of the download, and its outcome.
///
/// The downloader, a cancelled receipt and the downloader's end may settle it; the first counts.
final class ReceiptState: Sendable {
    typealias Outcome = Result<ImageDownloader.Response, any Error>
    typealias Waiter = CheckedContinuation<Outcome, Never>

    private struct State {
        var machine = ReceiptMachine<Outcome, Waiter>()
        var progress: ImageDownloader.Progress?
        var observers: [AsyncStream<ImageDownloader.Progress>.Continuation] = []
    }

    private let state = Mutex(State())

    var outcome: Outcome? { state.withLock { $0.machine.outcome } }

    /// Waits for the outcome. Throws `CancellationError` if the awaiting task is cancelled.
    func value() async throws -> ImageDownloader.Response {
        let id = state.withLock { $0.machine.begin() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                switch state.withLock({ $0.machine.enter(id, waiter) }) {
                case .settled(let outcome): waiter.resume(returning: outcome)
                case .cancelled: waiter.resume(returning: .failure(CancellationError()))
                case .waiting: break
                }
            }
        } onCancel: {
            state.withLock { $0.machine.cancel(id) }?.resume(returning: .failure(CancellationError()))
        }
        return try outcome.get()
    }

    /// Settles the outcome. Returns false if there was one already.
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
        let (waiters, observers) = state.withLock { state in
            let waiters = state.machine.settle(outcome)
            defer { if waiters != nil { state.observers = [] } }
            return (waiters, state.observers)
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(returning: outcome) }
        for observer in observers { observer.finish() }
        return true
    }

    func report(_ progress: ImageDownloader.Progress) {
        let observers = state.withLock { state -> [AsyncStream<ImageDownloader.Progress>.Continuation] in
            guard state.machine.outcome == nil else { return [] }
            state.progress = progress
            return state.observers
        }
        for observer in observers { observer.yield(progress) }
    }

    /// The progress known now, if any, and later changes; it ends with the outcome.
    func observeProgress() -> AsyncStream<ImageDownloader.Progress> {
        let (stream, observer) = AsyncStream<ImageDownloader.Progress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (progress, isOver) = state.withLock { state in
            let isOver = state.machine.outcome != nil
            if !isOver { state.observers.append(observer) }
            return (state.progress, isOver)
        }
        // At worst, this older step follows a newer one; the next step corrects that.
        if let progress { observer.yield(progress) }
        if isOver { observer.finish() }
        return stream
    }
}
