package import DunlinReactor
package import DunlinTransport

/// A call on its way, as its sink sees it: brings responses that hooks have let through, and may be asked again.
package struct LiveCall: Sendable {
    package let asked: HTTPSession.Call
    package let delegate: TaskDelegate
    /// Where bodies are sent that go out while their response is read.
    let uploads: UploadScope?
    /// What is to be sent; once it is answered, what was.
    package var request: TransportRequest
    /// When the next exchange begins, or the last one did.
    package var start: MonotonicTime
    /// What came before.
    package var callHistory: CallHistory?
    /// What the exchange is that is made next, which may be stopped alone; nil: all of the request.
    package var part: CallPart?
    /// Whether a policy may have it tried again.
    package var mayRetry = true
    /// Nanoseconds that it waited in a queue.
    let queued: Int64

    package var session: SessionCore { asked.session }
    var chain: Chain { asked.era.chain }
    package var loop: Reactor { delegate.loop }
    package var callTransport: CallTransport { asked.era.chain.callTransport }
    /// Nil for a call that nobody watches.
    package var observers: RequestObservers? { delegate.observers }
    package var control: TransferControl? { observers?.control }
    /// Whatever is waited for on the way waits on the present exchange's switch. `delegate` is what is told of.
    var cancellation: Cancellation { part?.cancellation ?? delegate.cancellation }
    package var snapshot: HTTPSession.TaskSnapshot { delegate.snapshot(at: loop.now()) }

    package func hasHook<Hook>(_ hook: KeyPath<HTTPSession.Hooks, Hook?>) -> Bool { observers?.hasHook(hook) ?? false }

    /// Throws if the request may not go on; waits while it is held.
    package func pass() async throws {
        if let control { try await delegate.pass(control, until: request.deadline) }
    }

    /// Work that knows only task cancellation, under the call's own switch and deadline.
    package func foreign<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await callTransport.foreign(
            until: request.deadline, request.timeouts.total, cancellation, on: loop, work)
    }
}

// MARK: - Sending

extension LiveCall {
    /// Sends, and makes something of the response. With a policy both are tried again, unless somebody saw the response
    /// and may not see another.
    mutating func deliver<Value>(
        _ take: (inout LiveCall, TransportResponse) async throws -> Value
    ) async throws -> Value {
        let mayTakeAgain = !hasHook(\.data) && !hasHook(\.response)
        var drivers = StageDrivers(for: self)
        while true {
            if let value = try await delivered(&drivers, mayTakeAgain, take) { return value }
            try await drivers.rest(&self)
            start = loop.now()
        }
    }

    /// Nil if the call is to be sent again: the response is gone by then, with its connection.
    private mutating func delivered<Value>(
        _ drivers: inout StageDrivers, _ mayTakeAgain: Bool,
        _ take: (inout LiveCall, TransportResponse) async throws -> Value
    ) async throws -> Value? {
        let response = try await answer(&drivers)
        do {
            return try await take(&self, response)
        } catch  where mayTakeAgain {
            try await drivers.undelivered(error, &self)
            return nil
        }
    }

    /// The head of a response that is to be delivered: nothing is tried again once somebody has that.
    package mutating func answer() async throws -> TransportResponse {
        var drivers = StageDrivers(for: self)
        return try await answer(&drivers)
    }

    /// Hop by hop, until there is a response to deliver.
    private mutating func answer(_ drivers: inout StageDrivers) async throws -> TransportResponse {
        while true {
            guard await delegate.begin() else { throw NetworkError(.cancelled, "the request was over already") }
            let outcome: Result<TransportResponse, any Error>
            do {
                let response = try await callTransport.exchange(try await drivers.sending(&self), of: self)
                if drivers.mayPass(response.head.status) { return response }
                outcome = .success(response)
            } catch {
                outcome = .failure(explained(error))
            }
            // Consumed: a response that is not delivered must be gone, with its connection, before the next is awaited.
            if let response = try await drivers.judge(consume outcome, &self) { return response }
            try await drivers.rest(&self)
            start = loop.now()
        }
    }

    /// A server that is not trusted is told of with the URL that led to it.
    private func explained(_ error: any Error) -> any Error {
        let origin = request.head.origin
        return NetworkError.explained(error, at: origin, url: origin.description + request.head.target)
    }
}

// MARK: - Responses

extension LiveCall {
    /// A response whose body is still to be taken.
    package struct Arrival: Sendable {
        package let response: TransportResponse
        /// Its content codings are being taken off.
        package let isCoded: Bool
        /// Where a hook wants the body to go.
        let destination: HTTPSession.Destination?
    }

    /// Sends. A part of a whole goes on after `base` bytes that are there; nil for the `total` says that it brings the
    /// rest.
    package mutating func arrival(appendingTo base: Int = 0, of total: Int? = nil) async throws -> Arrival {
        let response = try await answer()
        return try await admit(response, appendingTo: base, of: total)
    }

    /// What hooks make of a response, and plain content. Who reads `outside` of the call does so within its limits.
    func admit(
        _ arrived: TransportResponse, appendingTo base: Int = 0, of total: Int? = nil, outside: Bool = false
    ) async throws -> Arrival {
        var (response, destination) = (arrived, HTTPSession.Destination?.none)
        if let observers {
            if callTransport.sockets == nil { asked.body.noteSent(by: observers.control) }
            (response, destination) = try await observers.admitted(arrived, self, appendingTo: base, of: total)
        }
        if outside, callTransport.sockets == nil, case .stream(let stream) = response.body {
            let body = ForeignBody(
                stream, callTransport, delegate.cancellation, on: loop, until: request.deadline,
                limit: request.timeouts.total)
            response = response.with(.stream(body), response.hop)
        }
        var isCoded = false
        if asked.reading.decodes, let plain = try session.decoding.apply(to: response, telling: control) {
            response = plain
            isCoded = true
        }
        if let observers { response = try await observers.told(response, self) }
        return Arrival(response: response, isCoded: isCoded, destination: destination)
    }
}
