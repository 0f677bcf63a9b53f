internal import DunlinTransport
internal import Synchronization

extension HTTPSession.RequestTask {
    /// Whether it may move just now: false while it is held, not begun or over.
    public var isActive: Bool { watch.motion == .moving }

    /// Whether it may move: false while it is held, not begun or over. As it is now, then whenever that has changed;
    /// the stream ends with the request. Does not let it begin, and does not keep it.
    public var activity: AsyncStream<Bool> {
        let listener = ActivityListener()
        return AsyncStream { [watch] in
            while let known = listener.next, let motion = await watch.motion(after: known.motion) {
                if let news = listener.told(motion) { return news }
            }
            return nil
        }
    }

    /// Tells how far it is, without letting it begin and without keeping it.
    package var teller: Teller {
        Teller(
            tally: { [watch] in watch.tally }, settled: { [settlement] in settlement.valueIfSettled.map(Self.error) },
            ending: { [settlement] in Self.error(await settlement.value) })
    }

    package struct Teller: Sendable {
        fileprivate let tally: @Sendable () -> Tally
        fileprivate let settled: @Sendable () -> (any Error)??
        /// Waits for its end, whoever cancels whom; the error, if there is one.
        package let ending: @Sendable () async -> (any Error)?

        package var uploaded: HTTPSession.TransferProgress { .init(tally(), .upload) }
        package var downloaded: HTTPSession.TransferProgress { .init(tally(), .download) }
        /// Nil while it is not over; the error, if there is one, once it is.
        package var errorIfEnded: (any Error)?? { settled() }
    }

    private static func error(_ result: Result<HTTPSession.Response<Output>, any Error>) -> (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }
}

/// What one listener has been told.
private final class ActivityListener: Sendable {
    struct Known {
        /// Nil before the first value.
        var motion: TransferWatch.Motion?
    }

    private let known = Mutex<Known?>(Known())

    /// Nil once everything has been told.
    var next: Known? { known.withLock { $0 } }

    /// What to tell; nil if a listener would hear nothing new.
    func told(_ motion: TransferWatch.Motion) -> Bool? {
        known.withLock { known in
            let before = known?.motion.map { $0 == .moving }
            known = motion == .over ? nil : Known(motion: motion)
            let isMoving = motion == .moving
            return isMoving == before ? nil : isMoving
        }
    }
}
