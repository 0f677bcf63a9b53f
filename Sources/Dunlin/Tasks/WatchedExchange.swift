internal import DunlinReactor
internal import DunlinTransport

/// The exchange of one watched request, as its intake sees it: brings a response that hooks have let through, and may
/// be asked again.
struct WatchedExchange {
    let session: HTTPSession
    let call: HTTPSession.Call
    let delegate: TaskDelegate
    let audience: Audience
    var hops: HopLoop
    let loop: Reactor
    /// What is to be sent; once it is answered, what was.
    var request: TransportRequest
    var start: MonotonicTime
    /// What came before.
    var trail: Trail?
    /// Looks after the exchange that is made next, which may be stopped alone; nil: the request as a whole does.
    var part: TaskDelegate?

    /// A response whose body is still to be taken.
    struct Arrival {
        let response: TransportResponse
        /// Its content codings are being taken off.
        let isCoded: Bool
        /// Where a hook wants the body to go.
        let destination: HTTPSession.Destination?
    }

    var carrier: Carrier { hops.carrier }
    var watch: TransferWatch { audience.watch }
    var asking: HookAsking { HookAsking(carrier: carrier, request: request, delegate: delegate, loop: loop) }

    /// A part of a whole goes on after `base` bytes that are there; nil for the `total` says that it brings the rest.
    /// With a policy it is tried again, if it `mayRetry`, until a head has come that is none to try again after.
    mutating func send(
        appendingTo base: Int = 0, of total: Int? = nil, mayRetry: Bool = true
    ) async throws -> Arrival {
        let sent =
            if mayRetry, carrier.retries(delegate.settings) {
                try await RetryLoop(hops, part ?? delegate, on: loop).head(&request, since: start, &trail)
            } else {
                try await hops.run(&request, part ?? delegate, since: start, on: loop, &trail)
            }
        return try await admit(sent, appendingTo: base, of: total)
    }

    /// Sends, and makes something of the response; with a policy both are tried again, unless somebody saw the
    /// response and may not see another.
    mutating func send<Value: Sendable>(
        _ take: (inout WatchedExchange, Arrival) async throws -> Value
    ) async throws -> Value {
        guard carrier.retries(delegate.settings), !audience.hasHook(\.data), !audience.hasHook(\.response) else {
            let arrival = try await send()
            return try await take(&self, arrival)
        }
        var (exchange, request, trail) = (self, request, trail)
        defer { (self.request, self.trail) = (request, trail) }
        return try await RetryLoop(hops, delegate, on: loop).run(&request, since: start, &trail) {
            sent, request, trail in
            (exchange.request, exchange.trail) = (request, trail)
            let arrival = try await exchange.admit(sent)
            return try await take(&exchange, arrival)
        }
    }

    private func admit(
        _ sent: TransportResponse, appendingTo base: Int = 0, of total: Int? = nil
    ) async throws -> Arrival {
        if carrier.sockets == nil { call.body.noteSent(by: watch) }
        var (response, destination) = try await audience.admitted(
            sent, to: request, delegate, carrier, on: loop, appendingTo: base, of: total)
        var isCoded = false
        if call.reading.decodes, let plain = try session.decoding.apply(to: response, telling: watch) {
            response = plain
            isCoded = true
        }
        response = try await audience.told(response, to: request, delegate, carrier, on: loop)
        return Arrival(response: response, isCoded: isCoded, destination: destination)
    }

    /// Throws if the request may not go on; waits while it is held.
    func pass() async throws {
        try await delegate.pass(watch, until: request.deadline)
    }
}

/// Takes a response's body, somewhere.
protocol Intake: Sendable {
    associatedtype Taken: Sendable

    func take(_ exchange: inout WatchedExchange) async throws -> HTTPSession.Response<Taken>

    /// The body, if that was taken as a whole.
    func body(of response: HTTPSession.Response<Taken>) -> Bytes?
}

/// Takes the whole body, up to the request's limit; into a file if a hook says so.
struct WholeIntake: Intake {
    func take(_ exchange: inout WatchedExchange) async throws -> HTTPSession.Response<Bytes> {
        try await exchange.send { try await taken($1, &$0) }
    }

    private func taken(
        _ arrival: WatchedExchange.Arrival, _ exchange: inout WatchedExchange
    ) async throws -> HTTPSession.Response<Bytes> {
        if let destination = arrival.destination {
            let download = Download(to: destination)
            return try await download.take(arrival, &exchange).keepingFile
        }
        let whole = try await exchange.session.collected(
            arrival.response, isCoded: arrival.isCoded, exchange.request, exchange.delegate, exchange.call.reading,
            exchange.carrier, after: exchange.trail, on: exchange.loop)
        let last = whole.metrics.attempts.last
        exchange.watch.received(upTo: last?.bodyBytes ?? whole.body.count)
        exchange.watch.decoded(upTo: whole.body.count)
        try await exchange.pass()
        return whole
    }

    func body(of response: HTTPSession.Response<Bytes>) -> Bytes? { response.file == nil ? response.body : nil }
}
