internal import DunlinTransport

/// What has been sent for a call, by stages, interceptors or a continuing download.
///
/// Rules:
/// 1. Every exchange adds to it, and nothing else: a call may send other requests than it asks for, and the last failed
///    one may not be the only one sent. So this value decides whether something may be sent again, and what an error
///    says about that.
/// 2. A request was sent as soon as a byte of it may have reached a peer.
/// 3. A sent request may have been carried out, unless the status says otherwise: 401 and 407 ask for a password, 417
///    refuses an expectation (RFC 9110 §15.5), and 408, 425 and 429 are as in `RetryMachine`.
/// 4. That a request is not a plain GET counts even before it is sent.
/// 5. An attempt of the retry policy, and each hop in it, includes what was sent since it began. What interceptors
///    around an exchange send belongs to the hop that they surround.
///
/// It must not know connections, clocks or why anything was sent.
struct SentRequests: Sendable, Equatable {
    /// What is true of at least one of the requests.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt8

        /// The request was sent.
        static let sent = Traits(rawValue: 1)
        /// The request may have been carried out, and its method is not idempotent.
        static let notIdempotent = Traits(rawValue: 2)
        /// As before, and the server cannot recognise a repetition by a key either.
        static let notRepeatable = Traits(rawValue: 4)
        /// The request is not a GET, or has a body.
        static let notGET = Traits(rawValue: 8)
    }

    /// The traits of the whole call so far.
    private(set) var call: Traits = []
    /// The traits of the attempt that a retry policy judges.
    private(set) var attempt: Traits = []
    /// The traits of the current hop.
    private(set) var hop: Traits = []

    mutating func beginAttempt() {
        (attempt, hop) = ([], [])
    }

    mutating func beginHop() {
        hop = []
    }

    /// Notes that a request is about to be sent.
    mutating func begin(_ request: TransportRequest) {
        if !request.isPlainGET { add(.notGET) }
    }

    mutating func answered(_ request: TransportRequest, _ status: HTTP.Status) {
        add(request.isPlainGET || status.isNotTakenUp ? .sent : Traits(request))
    }

    /// Notes a failed request. Other errors than `NetworkError` do not say how far it got.
    mutating func failed(_ request: TransportRequest, _ error: any Error) {
        if (error as? NetworkError)?.requestMayHaveBeenSent ?? true { add(Traits(request)) }
    }

    /// Notes a request under way that nobody waits for any more.
    mutating func discarded(_ request: TransportRequest) { add(Traits(request)) }

    /// Notes that a proxy got the request and did not forward it.
    mutating func refusedByProxy() { add(.sent) }

    /// Adds what was sent in parallel.
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
    /// The traits of a request that may have been carried out.
    fileprivate init(_ request: TransportRequest) {
        self = .sent
        if request.isPlainGET { return }
        insert(.notGET)
        if !request.head.method.isIdempotent { insert(.notIdempotent) }
        if !request.head.isRepeatable { insert(.notRepeatable) }
    }

    /// Makes an error say what is true of all these requests, not only of the last.
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
    /// Whether the status says that the server did not carry the request out.
    fileprivate var isNotTakenUp: Bool {
        switch code {
        case 401, 407, 408, 417, 425, 429: true
        default: false
        }
    }
}
