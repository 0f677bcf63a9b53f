internal import DunlinReactor
internal import DunlinTransport

extension HTTPSession.RequestTask {
    /// Whether the request may transfer bytes now; false while it is suspended, not begun or over.
    public var isActive: Bool { control.motion == .moving }

    /// Whether the request may transfer bytes: the current state, then each change. It is false while the request is
    /// suspended, not begun or over. The stream ends with the request. Reading it neither begins nor retains the
    /// request.
    public var activity: AsyncStream<Bool> {
        AsyncStream(knowing: TransferControl.Motion?.none) { [control] known in
            known == .over ? nil : await control.motion(after: known)
        } tell: { known, motion in
            defer { known = motion }
            let isMoving = motion == .moving
            return known.map { $0 == .moving } == isMoving ? nil : isMoving
        }
    }

    /// Reads the progress without beginning or retaining the request.
    package var progressSource: ProgressSource {
        ProgressSource(
            tally: { [control] in control.tally },
            settled: { [settlement] in settlement.valueIfSettled.map(Self.error) },
            ending: { [settlement] in Self.error(await settlement.value) })
    }

    package struct ProgressSource: Sendable {
        fileprivate let tally: @Sendable () -> Tally
        fileprivate let settled: @Sendable () -> (any Error)??
        /// Waits for the request's end, even if the awaiting task is cancelled. Returns its error, if any.
        package let ending: @Sendable () async -> (any Error)?

        package var uploaded: HTTPSession.TransferProgress { .init(tally(), .upload) }
        package var downloaded: HTTPSession.TransferProgress { .init(tally(), .download) }
        /// The request's error, if any; nil until the request is over.
        package var errorIfEnded: (any Error)?? { settled() }
    }

    private static func error(_ result: Result<HTTPSession.Response<Output>, any Error>) -> (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }
}
