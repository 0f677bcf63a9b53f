internal import DunlinWire

/// How a connection ended, for those who used it.
enum WebSocketEnd: Sendable {
    /// Both sides said close, or this side did and the other did not answer.
    case closed(WebSocketCloseCode, reason: String, byPeer: Bool = false)
    case failed(any Error)

    init(_ outcome: WebSocketOutcome) {
        switch outcome {
        case .closed(let closing, let byPeer):
            self = .closed(closing.code ?? .noCode, reason: closing.reason, byPeer: byPeer)
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
        let reason = error.isOfServer ? "the server broke the rules of WebSocket: \(error)" : "\(error)"
        self.init(code, reason, phase: .receive, requestMayHaveBeenSent: true, underlying: error)
    }
}

extension WebSocketError {
    /// Whether only the server can have done this.
    fileprivate var isOfServer: Bool {
        // A caller may also close with such a code.
        if case .invalidCloseCode = self { return false }
        return closeCode == .protocolError || closeCode == .invalidContent
    }
}
