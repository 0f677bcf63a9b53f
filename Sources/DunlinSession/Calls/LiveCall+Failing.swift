internal import DunlinReactor
internal import DunlinTransport

/// What a call fails with although a response came: a stage, a hook, an interceptor or whoever takes the body is not
/// content with it. That exchange took place, so the error tells how it went, and the metrics have it.
extension LiveCall {
    /// The error with the hop that brought `response`, unless it has that of a later one.
    package func failing(_ error: any Error, on response: TransportResponse) -> any Error {
        failing(error, after: response.latestHop)
    }

    /// The same for the hop alone. An error that can carry none leaves it to the metrics.
    func failing(_ error: any Error, after hop: HTTP.Hop) -> any Error {
        // Whoever made the response did not measure anything.
        if hop == HTTP.Hop() { return error }
        var hop = hop
        if hop.ended < hop.started { hop.ended = loop.now() }
        guard var failure = error as? NetworkError else {
            let control = part?.exchangeOptions?.control ?? control
            // What was cancelled while it was under way has said so itself.
            if !(error is CancellationError) || control?.untoldHop == nil { control?.untoldHop = hop }
            return error
        }
        if failure.hop == nil { failure.hop = hop }
        return failure
    }
}
