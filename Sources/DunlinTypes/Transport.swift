/// Carries one request to its origin and brings the response back: the seam under `HTTPSession`.
///
/// A transport knows nothing of redirects, retries or decoding. It ends promptly when its task is cancelled.
public protocol Transport: Sendable {
    func exchange(_ request: TransportRequest) async throws -> TransportResponse
}

/// One request as a transport gets it.
public struct TransportRequest: Sendable {
    public var head: RequestHead
    public var body: RequestBody
    public var timeouts: Timeouts
    /// When the whole request must be over, on the transport's clock; set once for all hops.
    public var deadline: MonotonicTime

    public init(
        head: RequestHead, body: RequestBody = .none, timeouts: Timeouts = Timeouts(), deadline: MonotonicTime = .never
    ) {
        self.head = head
        self.body = body
        self.timeouts = timeouts
        self.deadline = deadline
    }
}

/// One response as a transport hands it on.
public struct TransportResponse: Sendable {
    public var head: ResponseHead
    /// Interim (1xx) responses that came first, in order.
    public var interim: [ResponseHead]
    public var body: ResponseBody
    public var attempt: Attempt

    public init(
        head: ResponseHead, interim: [ResponseHead] = [], body: ResponseBody = .bytes(.empty),
        attempt: Attempt = Attempt()
    ) {
        self.head = head
        self.interim = interim
        self.body = body
        self.attempt = attempt
    }
}

/// A response body: already here, or still arriving.
public enum ResponseBody: Sendable {
    case bytes(Bytes)
    case stream(any BodyStream)
}

/// A body that is still arriving. Reading pulls: nothing is read from the peer until somebody asks.
///
/// Dropping the last reference gives the rest up and closes whatever it was read from.
public protocol BodyStream: AnyObject, Sendable {
    /// The next piece, or `nil` after the last. Only one reader at a time.
    func next() async throws -> Bytes?
    /// The declared length, if the peer declared one.
    var expectedLength: Int? { get }
    /// Trailer fields; empty until the last piece has been read.
    var trailers: Fields { get }
    /// How the exchange went so far; final once the last piece has been read.
    var attempt: Attempt { get }
}
