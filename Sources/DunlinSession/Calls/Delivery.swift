/// What came of having a call's response delivered.
struct Delivery<Taken: Sendable>: Sendable {
    let result: Result<HTTPSession.Response<Taken>, any Error>
    /// The history of a call that failed.
    private let callHistory: CallHistory?
    private let queued: Int64
    /// The place in the book of its loop, if the call is still on the list.
    var place: Int?

    init(failure error: any Error) {
        (result, callHistory, queued) = (.failure(error), nil, 0)
    }

    init(_ result: Result<HTTPSession.Response<Taken>, any Error>, _ live: consuming LiveCall?) {
        (callHistory, queued) = (live?.callHistory, live?.queued ?? 0)
        self.result = queued > 0 ? result.after(waiting: queued, isFirst: callHistory?.hops.isEmpty ?? true) : result
    }

    var response: HTTPSession.Response<Taken>? {
        if case .success(let response) = result { response } else { nil }
    }

    var error: (any Error)? {
        if case .failure(let error) = result { error } else { nil }
    }

    /// `hop` is the last one of a call whose error can tell nothing of it.
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
    /// The same result, with the time the call waited in a queue added to its first hop.
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
    /// The error with the name of this request, of which nothing was sent.
    func named(_ error: any Error) -> any Error { error.named(source, nil, reading.errors) }
}

extension LiveCall {
    /// The error that the call ends with: with the name of the request that was sent last, and saying what may be done
    /// after all that was sent.
    func named(_ error: any Error) -> any Error {
        sentRequests.call.explained(error)
            .named(RequestRecord.Source(sent ?? request), callHistory, asked.reading.errors)
    }
}
