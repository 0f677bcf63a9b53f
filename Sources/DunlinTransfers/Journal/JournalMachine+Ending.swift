extension JournalMachine.Ending {
    /// Classifies an error: whether it may pass soon, as errors of the network or a busy server may. `isRepeatable`
    /// says whether everything that was sent may be sent again.
    init(_ error: any Error, isRepeatable: Bool = true) {
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
            delay: error.response?.fields.retryDelay)
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

extension Fields {
    /// `Retry-After` in seconds (RFC 9110 §10.2.3). A date would require a clock that agrees with the server's.
    fileprivate var retryDelay: Duration? {
        guard let text = self["retry-after"], text.utf8.count <= 9, let seconds = UInt32(text) else { return nil }
        return .seconds(seconds)
    }
}
