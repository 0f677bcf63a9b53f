internal import DunlinReactor
internal import DunlinTransport

/// Failures of a call although a response came: a stage, hook, interceptor or sink refused it. That exchange took
/// place, so the error carries its hop, and the metrics include it.
extension Sending {
    /// The error with the hop that brought `response`, unless it has that of a later one.
    package func failing(_ error: any Error, on response: TransportResponse) -> any Error {
        failing(error, after: response.latestHop)
    }

    /// The hop that ended with this error, if it is known.
    func hop(of error: any Error) -> HTTP.Hop? {
        if let failure = error as? NetworkError { return failure.hop }
        return (part?.exchangeOptions?.control ?? control)?.untoldHop
    }

    /// The error with this hop. An error that cannot carry a hop leaves it to the metrics.
    func failing(_ error: any Error, after hop: HTTP.Hop) -> any Error {
        // Whoever made the response measured nothing.
        if hop == HTTP.Hop() { return error }
        var hop = hop
        if hop.ended < hop.started { hop.ended = loop.now() }
        guard var failure = error as? NetworkError else {
            let control = part?.exchangeOptions?.control ?? control
            // A request cancelled while it was under way has reported its hop already.
            if !(error is CancellationError) || control?.untoldHop == nil { control?.untoldHop = hop }
            return error
        }
        if failure.hop == nil { failure.hop = hop }
        return failure
    }
}
