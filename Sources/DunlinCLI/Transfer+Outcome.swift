import Dunlin

extension Transfer {
    /// The outcome of a task that ended with this error.
    static func outcome(of error: any Error) -> Outcome {
        let code = (error as? NetworkError)?.code
        if error is CancellationError || code == .cancelled { return .stopped }
        return .failed(ErrorText.lines(of: error)[0], isRefusal: code == .unacceptableStatus)
    }
}
