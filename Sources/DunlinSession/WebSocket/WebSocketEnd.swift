internal import DunlinWire

/// How a connection ended, for those who used it.
enum WebSocketEnd: Sendable {
    /// Both sides said close, or this side did and the other did not answer.
    case closed(WebSocketCloseCode, reason: String)
    case failed(any Error)

    init(_ outcome: WebSocketOutcome) {
        switch outcome {
        case .closed(let closing, _): self = .closed(closing.code ?? .noCode, reason: closing.reason)
        case .failed(.noClose): self = .closed(.abnormal, reason: "")
        case .failed(let error): self = .failed(error)
        }
    }

    /// What a send or a ping gets that comes too late.
    var error: any Error {
        if case .failed(let error) = self { error } else { WebSocketError.closed }
    }
}

extension NetworkError {
    static var closedHere: NetworkError {
        NetworkError(
            .connectionClosed, "this side has closed the connection", phase: .receive, requestMayHaveBeenSent: true)
    }

    /// The error of a connection that failed by the rules of WebSocket.
    init(_ error: WebSocketError) {
        let code: Code =
            switch error {
            case .endedWithoutClose, .closed: .connectionClosed
            case .noPong, .noClose: .timedOut
            case .frameTooLong, .messageTooLong: .limitExceeded
            default: .webSocketFailed
            }
        self.init(code, "\(error)", phase: .receive, requestMayHaveBeenSent: true, underlying: error)
    }
}
