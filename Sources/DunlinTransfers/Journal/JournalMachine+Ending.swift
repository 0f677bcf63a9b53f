internal import DunlinReactor
internal import DunlinSemantics

extension JournalMachine.Ending {
    /// Classifies an error: whether it may pass soon, as errors of the network or a busy server may. `isRepeatable`
    /// says whether everything that was sent may be sent again; `now` is in seconds since 1970.
    init(_ error: any Error, isRepeatable: Bool = true, at now: Int64 = WallClock.seconds) {
        guard let error = error as? NetworkError else {
            self = error is CancellationError ? .stopped : .failed(mayPass: false, isSafe: false)
            return
        }
        if error.code == .cancelled || error.code == .sessionShutDown {
            self = .stopped
            return
        }
        let isSafe = error.isSafeToRetry || !error.requestMayHaveBeenSent
        self = .failed(
            mayPass: error.mayPass && !error.isDecided, isSafe: isSafe, isRepeatable: isRepeatable,
            delay: error.response.flatMap { RetryAfter.wait($0.fields, at: now) })
    }
}

extension NetworkError {
    fileprivate var mayPass: Bool {
        switch code {
        case .connectionClosed, .connectionFailed, .nameNotResolved, .timedOut, .poolExhausted, .queueFull: true
        case .unacceptableStatus:
            switch response?.status.code {
            case 408, 429, 500, 502, 503, 504: true
            default: false
            }
        default: false
        }
    }
}
