internal import Dunlin
internal import Synchronization

/// What a receipt and its downloader share: the progress of the download, and its outcome.
///
/// The downloader, a cancelled receipt and the downloader's end may settle it; the first counts.
final class ReceiptState: Sendable {
    typealias Outcome = Result<ImageDownloader.Response, any Error>

    private struct State {
        var progress: ImageDownloader.Progress?
        var observers: [AsyncStream<ImageDownloader.Progress>.Continuation] = []
    }

    private let settlement = Settlement<Outcome>()
    private let state = Mutex(State())

    var outcome: Outcome? { settlement.valueIfSettled }

    /// Waits for the outcome. Throws `CancellationError` if the awaiting task is cancelled.
    func value() async throws -> ImageDownloader.Response {
        guard let outcome = await settlement.valueUnlessCancelled else { throw CancellationError() }
        return try outcome.get()
    }

    func settle(_ outcome: Outcome) {
        settlement.settle(outcome)
        state.withLock { $0.observers = [] }
    }

    func report(_ progress: ImageDownloader.Progress) {
        let observers = state.withLock { state in
            state.progress = progress
            return state.observers
        }
        for observer in observers { observer.yield(progress) }
    }

    /// The progress known now, if any, and later changes; it ends with the outcome.
    func observeProgress() -> AsyncStream<ImageDownloader.Progress> {
        let (stream, observer) = AsyncStream<ImageDownloader.Progress>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let progress = state.withLock { state in
            if outcome == nil { state.observers.append(observer) }
            return state.progress
        }
        // At worst, this older step follows a newer one; the next step corrects that.
        if let progress { observer.yield(progress) }
        settlement.whenSettled { _ in observer.finish() }
        return stream
    }
}
