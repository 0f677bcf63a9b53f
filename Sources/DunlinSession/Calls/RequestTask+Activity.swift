internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession.RequestTask {
    /// Whether it may move just now: false while it is held, not begun or over.
    public var isActive: Bool { control.motion == .moving }

    /// Whether it may move: false while it is held, not begun or over. As it is now, then whenever that has changed;
    /// the stream ends with the request. Does not let it begin, and does not keep it.
    public var activity: AsyncStream<Bool> {
        AsyncStream(knowing: TransferControl.Motion?.none) { [control] known in
            known == .over ? nil : await control.motion(after: known)
        } tell: { known, motion in
            defer { known = motion }
            let isMoving = motion == .moving
            return known.map { $0 == .moving } == isMoving ? nil : isMoving
        }
    }

    /// Tells how far it is, without letting it begin and without keeping it.
    package var teller: ProgressSource {
        ProgressSource(
            tally: { [control] in control.tally },
            settled: { [settlement] in settlement.valueIfSettled.map(Self.error) },
            ending: { [settlement] in Self.error(await settlement.value) })
    }

    package struct ProgressSource: Sendable {
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
