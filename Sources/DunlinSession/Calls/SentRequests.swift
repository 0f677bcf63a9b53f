internal import DunlinTransport

/// What has been sent of a call, whoever had it sent: stages, interceptors, a download that goes on.
///
/// Rules:
/// 1. It grows by each exchange, and only by exchanges: what a call asks for may be another request than the one that
///    is sent, and what failed last may not be all that was sent. So whoever would send again asks this, and so does
///    whoever says of an error what may be done after it.
/// 2. A request was sent as soon as a byte of it may have reached a peer.
/// 3. It may have done its work then, unless the status says that the server did not take it up: 401 and 407 ask for a
///    password, 417 refuses an expectation (RFC 9110 §15.5), and 408, 425 and 429 are as in `RetryMachine`.
/// 4. That a request is no plain GET counts from before it is sent.
/// 5. An attempt of the retry policy, and a hop of that, have what was sent since they began. What is sent for
///    interceptors around an exchange belongs to the hop that they stand around.
///
/// It must not know connections, clocks or why anything was sent.
struct SentRequests: Sendable, Equatable {
    /// What is true of at least one of the requests.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt8

        /// Was sent.
        static let sent = Traits(rawValue: 1)
        /// May have done its work, and its method is not idempotent.
        static let notIdempotent = Traits(rawValue: 2)
        /// As before, and the server cannot tell a repetition by a key either.
        static let notRepeatable = Traits(rawValue: 4)
        /// Is no GET, or one with a body.
        static let notGET = Traits(rawValue: 8)
    }

    /// Of the whole call so far.
    private(set) var call: Traits = []
    /// Of the attempt that a retry policy judges.
    private(set) var attempt: Traits = []
    /// Of the present hop.
    private(set) var hop: Traits = []

    mutating func beginAttempt() {
        (attempt, hop) = ([], [])
    }

    mutating func beginHop() {
        hop = []
    }

    /// A request is about to be sent.
    mutating func begin(_ request: TransportRequest) {
        if !request.isPlainGET { add(.notGET) }
    }

    mutating func answered(_ request: TransportRequest, _ status: HTTP.Status) {
        add(request.isPlainGET || status.isNotTakenUp ? .sent : Traits(request))
    }

    /// Nobody knows of an error of another kind how far the request was.
    mutating func failed(_ request: TransportRequest, _ error: any Error) {
        if (error as? NetworkError)?.requestMayHaveBeenSent ?? true { add(Traits(request)) }
    }

    /// Nobody waits for it any more, and it is still under way.
    mutating func abandoned(_ request: TransportRequest) { add(Traits(request)) }

    /// A proxy was told of the request, and did not forward it.
    mutating func refusedByProxy() { add(.sent) }

    /// The same of what was sent beside it.
    mutating func add(_ other: SentRequests) {
        call.formUnion(other.call)
        attempt.formUnion(other.attempt)
        hop.formUnion(other.hop)
    }

    private mutating func add(_ traits: Traits) {
        call.formUnion(traits)
        attempt.formUnion(traits)
        hop.formUnion(traits)
    }
}

extension SentRequests.Traits {
    /// Of a request that may have done its work.
    fileprivate init(_ request: TransportRequest) {
        self = .sent
        if request.isPlainGET { return }
        insert(.notGET)
        if !request.head.method.isIdempotent { insert(.notIdempotent) }
        if !request.head.isRepeatable { insert(.notRepeatable) }
    }

    /// Has an error say what is true of all these requests, and not of the last alone.
    func explained(_ error: any Error) -> any Error {
        guard contains(.sent), let failure = error as? NetworkError else { return error }
        return explained(failure)
    }

    func explained(_ failure: NetworkError) -> NetworkError {
        guard contains(.sent) else { return failure }
        var failure = failure
        failure.requestMayHaveBeenSent = true
        if contains(.notRepeatable) { failure.isSafeToRetry = false }
        return failure
    }
}

extension TransportRequest {
    fileprivate var isPlainGET: Bool { head.method == .get && body.isNone }
}

extension HTTP.Status {
    /// Whether the server says by it that it did not take the request up.
    fileprivate var isNotTakenUp: Bool {
        switch code {
        case 401, 407, 408, 417, 425, 429: true
        default: false
        }
    }
}
