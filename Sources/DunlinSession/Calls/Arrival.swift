internal import DunlinReactor
internal import DunlinTransport

extension Sending {
    /// A response whose body has not been taken yet.
    package struct Arrival: Sendable {
        package let response: TransportResponse
        /// The response as received, from which this one was made.
        let raw: TransportResponse
        let traits: Traits

        /// Whether the body is not what the server sent: content codings are being removed, or an interceptor replaced
        /// it.
        package var isChanged: Bool { traits.isChanged }
        /// Where a hook wants the body to go.
        var destination: HTTPSession.Destination? { traits.destination }
        /// The body's length, if the server declared it and the body is the server's.
        var declaredLength: Int? { isChanged ? nil : raw.declaredLength }

        /// What is known of a response apart from itself.
        struct Traits: Sendable {
            var isChanged: Bool
            var destination: HTTPSession.Destination?
        }

        init(
            _ response: TransportResponse, of raw: TransportResponse, isChanged: Bool,
            _ destination: HTTPSession.Destination?
        ) {
            (self.response, self.raw) = (response, raw)
            traits = Traits(isChanged: isChanged, destination: destination)
        }

        /// Creates an arrival for a response that an interceptor returned unchanged.
        init(_ response: TransportResponse, as traits: Traits) {
            (self.response, raw, self.traits) = (response, response, traits)
        }

        /// Creates an arrival for a response by which an interceptor replaced another.
        init(made response: TransportResponse, insteadOf former: Traits?) {
            self.init(response, of: response, isChanged: true, former?.destination)
        }
    }

    /// Asks the hooks about a response and removes its content codings. With `outside`, the body is read outside the
    /// call, but within its limits.
    mutating func admit(
        _ arrived: TransportResponse, appendingTo base: Int = 0, of total: Int? = nil, outside: Bool = false
    ) async throws -> Arrival {
        do {
            return try await admitted(arrived, appendingTo: base, of: total, outside: outside)
        } catch {
            throw failing(error, on: arrived)
        }
    }

    private mutating func admitted(
        _ arrived: TransportResponse, appendingTo base: Int, of total: Int?, outside: Bool
    ) async throws -> Arrival {
        var (response, destination) = (arrived, HTTPSession.Destination?.none)
        if let observers {
            if callTransport.sockets == nil { call.body.noteSent(by: observers.control) }
            (response, destination) = try await observers.admitted(arrived, self, appendingTo: base, of: total)
        }
        if outside, callTransport.sockets == nil, case .stream(let stream) = response.body {
            let body = CancellableBody(
                stream, callTransport, delegate.cancellation, on: loop,
                until: response.head.status == .switchingProtocols ? .never : request.deadline,
                limit: request.timeouts.total)
            response = response.with(.stream(body), response.hop)
        }
        var isChanged = hasMadeBody
        if call.reading.decodes, let plain = try session.decoding.apply(to: response, observedBy: control) {
            response = plain
            isChanged = true
        } else if call.reading.decodes, session.decoding.isCodedPart(response) {
            guard chain.settings.builder.asksForCodings((sent ?? request).head.fields) else {
                throw Decoding.codedPart(response.head)
            }
        }
        if let observers { response = try await observers.reportingData(of: response, self) }
        return Arrival(response, of: arrived, isChanged: isChanged, destination)
    }
}
