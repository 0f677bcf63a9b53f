/// The result of delivering a call's response.
package struct Delivery<Taken: Sendable>: Sendable {
    let result: Result<HTTPSession.Response<Taken>, any Error>
    /// The history of a failed call.
    private let callHistory: CallHistory?
    private let queued: Int64
    /// The call's place in its loop's list, while it is listed.
    var slot: Int?

    init(failure error: any Error) {
        (result, callHistory, queued) = (.failure(error), nil, 0)
    }

    init(_ result: Result<HTTPSession.Response<Taken>, any Error>, after callHistory: CallHistory?, queued: Int64) {
        (self.callHistory, self.queued) = (callHistory, queued)
        self.result = queued > 0 ? result.after(waiting: queued, isFirst: callHistory?.hops.isEmpty ?? true) : result
    }

    var response: HTTPSession.Response<Taken>? {
        if case .success(let response) = result { response } else { nil }
    }

    var error: (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }

    /// The call's metrics; `hop` is its last hop, if the call's error cannot carry it.
    func metrics(untold hop: HTTP.Hop?) -> HTTPSession.Metrics {
        switch result {
        case .success(let response): return response.metrics
        case .failure(let error):
            let last = (error as? NetworkError).map(\.hop) ?? hop
            guard let earlier = callHistory?.hops, !earlier.isEmpty else {
                return HTTPSession.Metrics(hops: [last].compactMap(\.self))
            }
            return HTTPSession.Metrics(hops: earlier + [last].compactMap(\.self)).after(waiting: queued)
        }
    }
}

extension Result {
    /// The same result, with the time that the call waited in a queue added to its first hop.
    fileprivate func after<Value>(waiting time: Int64, isFirst: Bool) -> Self
    where Success == HTTPSession.Response<Value>, Failure == any Error {
        map { $0.after(waiting: time) }.mapError { error in
            guard isFirst, var failure = error as? NetworkError else { return error }
            failure.hop = failure.hop?.after(waiting: time)
            return failure
        }
    }
}

extension TaskMachine.State {
    static func ending<Value>(_ result: Result<Value, any Error>) -> Self {
        switch result {
        case .success: .finished
        case .failure(let error): error is CancellationError ? .cancelled : .failed
        }
    }
}

extension HTTPSession.Call {
    /// The requested URL, without user info.
    var url: String { head.origin.description + head.target }

    /// The error with the request's name, for a request of which nothing was sent.
    func named(_ error: any Error) -> any Error { error.named(source, nil, reading.errors) }
}

extension Sending {
    /// The call's final error: it names the request sent last, and says what may be done after everything that was
    /// sent.
    func named(_ error: any Error) -> any Error {
        delegate.sent.explained(error)
            .named(RequestRecord.Source(sent ?? request), callHistory, call.reading.errors)
    }
}
