/// A type that sends one request to its origin and returns the response. It can replace the transport of an
/// `HTTPSession`.
///
/// A transport does not deal with redirects, retries or decoding. It must end promptly when its task is cancelled.
public protocol Transport: Sendable {
    func exchange(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request as a transport gets it: immutable, and passed by reference.
public final class TransportRequest: Sendable {
    public let head: RequestHead
    public let body: RequestBody
    public let timeouts: Timeouts
    /// The deadline of the whole call, on the transport's clock. It is set once for all hops.
    public let deadline: HTTP.Instant
    /// The order in which requests that wait for a connection are served.
    public let priority: HTTP.Priority
    /// How long a body with `Expect: 100-continue` waits for the server's consent before it is sent without.
    public let continueTimeout: Duration
    /// Whether the request needs a new connection, because one has just failed and others that were idle as long may be
    /// closed too.
    package let needsFreshConnection: Bool

    public convenience init(
        head: consuming RequestHead, body: consuming RequestBody = .none, timeouts: Timeouts = Timeouts(),
        deadline: HTTP.Instant = .never, priority: HTTP.Priority = .normal, continueTimeout: Duration = .seconds(1)
    ) {
        self.init(
            head: head, body: body, timeouts: timeouts, deadline: deadline, priority: priority,
            continueTimeout: continueTimeout, needsFreshConnection: false)
    }

    package init(
        head: consuming RequestHead, body: consuming RequestBody, timeouts: Timeouts, deadline: HTTP.Instant,
        priority: HTTP.Priority, continueTimeout: Duration, needsFreshConnection: Bool
    ) {
        self.needsFreshConnection = needsFreshConnection
        self.head = head
        self.body = body
        self.timeouts = timeouts
        self.deadline = deadline
        self.priority = priority
        self.continueTimeout = continueTimeout
    }
}

extension TransportRequest {
    /// The properties that a copy of a request may change.
    public struct Changes: Sendable {
        public var head: RequestHead
        public var body: RequestBody
        public var timeouts: Timeouts
        public var deadline: HTTP.Instant
        public var priority: HTTP.Priority
        public var continueTimeout: Duration
        package var needsFreshConnection: Bool
    }

    /// Returns a copy of the request, changed by `change`.
    public func with<Failure: Error>(_ change: (inout Changes) throws(Failure) -> Void) throws(Failure)
        -> TransportRequest
    {
        var changes = Changes(
            head: head, body: body, timeouts: timeouts, deadline: deadline, priority: priority,
            continueTimeout: continueTimeout, needsFreshConnection: needsFreshConnection)
        try change(&changes)
        return TransportRequest(
            head: changes.head, body: changes.body, timeouts: changes.timeouts, deadline: changes.deadline,
            priority: changes.priority, continueTimeout: changes.continueTimeout,
            needsFreshConnection: changes.needsFreshConnection)
    }
}

/// A response as a transport delivers it: immutable, and passed by reference.
public final class TransportResponse: Sendable {
    public let head: ResponseHead
    /// The interim (1xx) responses that came before, in order.
    public let interim: [ResponseHead]
    public let body: TransportResponse.Body
    /// The trailers; nil for none, because even empty arrays are counted by reference.
    private let wholeTrailers: Fields?
    public let hop: HTTP.Hop
    /// The request that this answers; nil if it has a body, which would stay in memory, or is not known.
    package let request: TransportRequest?
    /// The names whose values are left out when the response is shown.
    package let secretFields: HTTP.SecretFields

    public init(
        head: consuming ResponseHead, interim: consuming [ResponseHead] = [],
        body: consuming TransportResponse.Body = .bytes(.empty), trailers: consuming Fields? = nil,
        hop: consuming HTTP.Hop = HTTP.Hop()
    ) {
        self.head = head
        self.interim = interim
        self.body = body
        wholeTrailers = trailers
        self.hop = hop
        request = nil
        secretFields = .usual
    }

    package init(
        head: consuming ResponseHead, interim: consuming [ResponseHead], body: consuming TransportResponse.Body,
        trailers: consuming Fields? = nil, hop: consuming HTTP.Hop, answering request: consuming TransportRequest?,
        hiding secretFields: consuming HTTP.SecretFields = .usual
    ) {
        self.head = head
        self.interim = interim
        self.body = body
        wholeTrailers = trailers
        self.hop = hop
        self.request = request.flatMap { $0.body.isNone ? $0 : nil }
        self.secretFields = secretFields
    }

    /// The trailer fields of a body that is in memory; a stream has its own.
    public var trailers: Fields { wholeTrailers ?? Fields() }

    /// How the exchange has spent its time so far. A body that replaced the received one measures nothing; it leaves
    /// the times of the head.
    package var latestHop: HTTP.Hop {
        guard case .stream(let stream) = body else { return hop }
        let latest = stream.hop
        return latest == HTTP.Hop() ? hop : latest
    }

    /// A copy with another body, and that body's hop and trailers.
    package func with(_ body: TransportResponse.Body, _ hop: HTTP.Hop, trailers: Fields? = nil) -> TransportResponse {
        TransportResponse(
            head: head, interim: interim, body: body, trailers: trailers ?? wholeTrailers, hop: hop,
            answering: request, hiding: secretFields)
    }

    package func replacing(
        _ head: ResponseHead, _ body: TransportResponse.Body, _ trailers: Fields
    ) -> TransportResponse {
        TransportResponse(
            head: head, interim: interim, body: body, trailers: trailers.isEmpty ? nil : trailers, hop: hop,
            answering: request, hiding: secretFields)
    }

    /// A copy whose fields with these names are marked as sensitive, and other values with these names hidden.
    package func marking(_ secret: HTTP.SecretFields) -> TransportResponse {
        if secret.more.isEmpty { return self }
        var (head, interim, trailers) = (head, interim, wholeTrailers)
        head.mark(secret)
        for index in interim.indices { interim[index].mark(secret) }
        trailers?.mark(secret)
        return TransportResponse(
            head: head, interim: interim, body: MarkedBody.of(body, secret), trailers: trailers, hop: hop,
            answering: request, hiding: secret)
    }

    /// A copy as the answer to `request`, whose body it does not retain.
    package func answering(_ request: TransportRequest) -> TransportResponse {
        self.request === request ? self : newlyAnswering(request.withoutBody)
    }

    private func newlyAnswering(_ request: TransportRequest) -> TransportResponse {
        TransportResponse(
            head: head, interim: interim, body: body, trailers: wholeTrailers, hop: hop, answering: request,
            hiding: secretFields)
    }
}

extension TransportRequest {
    fileprivate var withoutBody: TransportRequest {
        body.isNone ? self : with { $0.body = .none }
    }
}

extension TransportResponse {
    /// A response body, either in memory or still arriving.
    public enum Body: Sendable {
        case bytes(Bytes)
        case stream(any TransportResponse.BodyStream)
    }
}

extension TransportResponse {
    /// A body that is still arriving. It is read from the peer only when `next` is called.
    ///
    /// Releasing the last reference discards the rest and closes its source.
    public protocol BodyStream: AnyObject, Sendable {
        /// Returns the next chunk, or `nil` after the last. Only one reader at a time may call it.
        func next() async throws -> Bytes?
        /// The declared length; nil if the peer declared none.
        var expectedLength: Int? { get }
        /// The trailer fields; empty until the last chunk has been read.
        var trailers: Fields { get }
        /// How the exchange has spent its time so far; final once the last chunk has been read.
        var hop: HTTP.Hop { get }
    }
}

extension TransportResponse {
    /// A body whose memory can be reused, and which has its own way to deliver the rest in one piece.
    package protocol RecyclingStream: BodyStream {
        /// Returns the next chunk, as `next()` does. Later chunks may be received into the memory of `spare`, which is
        /// then taken.
        func next(reusing spare: inout [UInt8]?) async throws -> Bytes?
        /// Reads the rest, as `readAll` does.
        func collect(_ admit: (Int) throws -> Void) async throws -> Bytes
    }
}

extension TransportResponse.BodyStream {
    /// Reads the rest as one piece. `admit` is asked with the length so far, or the expected length, before memory is
    /// used for it; an error that it throws ends the reading.
    package func readAll(_ admit: (Int) throws -> Void) async throws -> Bytes {
        if let stream = self as? any TransportResponse.RecyclingStream { return try await stream.collect(admit) }
        guard let first = try await next(keeping: { .empty }) else { return .empty }
        try Self.admit(first.count, keeping: { first }, admit)
        guard let second = try await next(keeping: { first }) else { return first }
        var whole: [UInt8] = []
        whole.reserveCapacity((first.count + second.count) * 2)
        first.withUnsafeBytes { whole.append(contentsOf: $0) }
        var piece = Optional(second)
        while let bytes = piece {
            try Self.admit(whole.count + bytes.count, keeping: { Bytes(whole + bytes.array) }, admit)
            bytes.withUnsafeBytes { whole.append(contentsOf: $0) }
            piece = try await next(keeping: { Bytes(whole) })
        }
        return Bytes(whole)
    }

    private static func admit(
        _ count: Int, keeping beginning: () -> Bytes, _ admit: (Int) throws -> Void
    ) throws {
        do { try admit(count) } catch { throw error.keeping(beginning()) }
    }

    private func next(keeping beginning: () -> Bytes) async throws -> Bytes? {
        do { return try await next() } catch { throw error.keeping(beginning()) }
    }
}

extension Error {
    /// A copy of the error that also holds the part of the body that had come.
    package func keeping(_ beginning: Bytes) -> any Error {
        guard var error = self as? NetworkError, error.body == nil else { return self }
        error.body = beginning
        return error
    }
}
