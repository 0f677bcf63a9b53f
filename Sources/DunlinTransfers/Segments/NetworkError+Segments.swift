internal import DunlinTransport

/// The errors of the exchanges that fetch a file in segments.
extension NetworkError {
    static var partsMissing: NetworkError {
        NetworkError(
            .connectionClosed, "the connections ended before all parts of the file had been received", phase: .receive,
            requestMayHaveBeenSent: true)
    }

    static func tooShort(_ head: ResponseHead) -> NetworkError {
        NetworkError(
            .connectionClosed, "the body is shorter than the server announced", phase: .receive,
            requestMayHaveBeenSent: true, response: head)
    }

    /// Whether another exchange may succeed.
    var isOfOneExchange: Bool {
        if isDecided { return false }
        return switch code {
        case .fileNotWritten, .sessionShutDown, .cancelled: false
        case .timedOut: exceeded != .total
        default: true
        }
    }
}
