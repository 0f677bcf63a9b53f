internal import DunlinTransport

/// Where a call's response is delivered: in memory, to a file, or as a stream to whoever reads it.
package protocol Sink: Sendable {
    /// What the sink takes while the call runs.
    associatedtype Taken: Sendable
    /// What the caller gets.
    associatedtype Value

    /// Asks the call for its response, as often as needed, and takes the body.
    func take(from sending: inout Sending) async throws -> HTTPSession.Response<Taken>

    /// Delivers the call's response to this sink, on the call's loop. `slot` is the call's place in the list, if it has
    /// one already.
    func delivery(
        of call: HTTPSession.Call, by delegate: TaskDelegate, at slot: Int?, isAwaited: Bool
    ) async throws -> Delivery<Taken>

    /// Makes the caller's value from what was taken, once the transfer is over.
    func value(of taken: HTTPSession.Response<Taken>) async throws -> HTTPSession.Response<Value>

    /// The error that the caller gets for a response that was not taken.
    func failure(_ error: any Error) -> any Error

    /// The body for observers; nil unless it was taken as a whole.
    func body(of taken: HTTPSession.Response<Taken>) -> Bytes?

    /// The value for observers.
    func shared(_ value: HTTPSession.Response<Value>) -> (any Sendable)?

    var serializer: (any ResponseSerializer)? { get }

    /// The response that the caller got before the end of the call.
    var handed: HTTPSession.StreamedResponse? { get }

    /// Whether the user's code runs within the call.
    var isScope: Bool { get }

    /// What the call is to wait for before it is admitted, if it continues an earlier one.
    var reconnection: HTTPSession.Reconnection? { get }

    /// The same sink where its code is not to stand in place: off a plain request's way.
    associatedtype Apart: Sink where Apart.Taken == Taken
    var apart: Apart { get }
}

/// A destination's place that takes a response's body there.
package protocol BodyReceiver: HTTPSession.Destination.Kind {
    /// Receives the body of `arrival`, a response that was to be read into memory.
    func receive(
        _ arrival: Sending.Arrival, from sending: inout Sending
    ) async throws -> HTTPSession.Response<Bytes>
}

extension Sink {
    @inline(__always)
    package func delivery(
        of call: HTTPSession.Call, by delegate: TaskDelegate, at slot: Int?, isAwaited: Bool
    ) async throws -> Delivery<Taken> {
        try await delegate.onLoop(call, self, at: slot, isAwaited: isAwaited)
    }

    package func failure(_ error: any Error) -> any Error { error }
    package func body(of taken: HTTPSession.Response<Taken>) -> Bytes? { nil }
    package func shared(_ value: HTTPSession.Response<Value>) -> (any Sendable)? { nil }
    package var serializer: (any ResponseSerializer)? { nil }
    package var handed: HTTPSession.StreamedResponse? { nil }
    package var isScope: Bool { false }
    package var reconnection: HTTPSession.Reconnection? { nil }
}

extension Sink where Taken == Bytes {
    package var apart: ErasedSink { ErasedSink(self) }

    /// What a call does for a sink of bytes is compiled once, and not for any type of value, which would cost each
    /// request tens of thousands of instructions, nor for each sink, which would cost a program 300 KB each.
    package func delivery(
        of call: HTTPSession.Call, by delegate: TaskDelegate, at slot: Int?, isAwaited: Bool
    ) async throws -> Delivery<Bytes> {
        try await delegate.onLoop(call, apart, at: slot, isAwaited: isAwaited)
    }
}

extension Sink where Taken == Bytes, Value == Void {
    func value(of taken: HTTPSession.Response<Bytes>) async throws -> HTTPSession.Response<Void> {
        taken.with(value: ())
    }
}

/// Any sink of bytes, or of nothing.
package struct ErasedSink: Sink {
    package typealias Taken = Bytes
    package typealias Value = Bytes
    package typealias Apart = Self

    private let receive: @Sendable (inout Sending) async throws -> HTTPSession.Response<Bytes>
    package let reconnection: HTTPSession.Reconnection?

    @inline(never)
    init<Source: Sink>(_ source: Source) where Source.Taken == Bytes {
        receive = { sending in try await source.take(from: &sending) }
        reconnection = source.reconnection
    }

    package var apart: Self { self }

    package func take(from sending: inout Sending) async throws -> HTTPSession.Response<Bytes> {
        try await receive(&sending)
    }
}

extension Sink where Value == Taken {
    package func value(of taken: HTTPSession.Response<Taken>) async throws -> HTTPSession.Response<Value> { taken }
}

// MARK: - Whole

/// Takes the whole body, up to the call's limit; into a file if a hook says so.
struct WholeSink: Sink {
    typealias Taken = Bytes
    typealias Value = Bytes
    typealias Apart = ErasedSink

    // In place, for a plain request.
    @inline(__always)
    func delivery(
        of call: HTTPSession.Call, by delegate: TaskDelegate, at slot: Int?, isAwaited: Bool
    ) async throws -> Delivery<Bytes> {
        try await delegate.onLoop(call, self, at: slot, isAwaited: isAwaited)
    }

    @inline(__always)
    func take(from sending: inout Sending) async throws -> HTTPSession.Response<Bytes> {
        guard sending.isIntercepted else {
            return try await sending.attempt { response, sending in
                try await taken(try await sending.admit(response), &sending)
            }
        }
        let arrival = try await sending.intercepted { try await wholeArrival(from: &$0) }
        return try await taken(arrival, &sending)
    }

    func body(of taken: HTTPSession.Response<Bytes>) -> Bytes? { taken.file == nil ? taken.body : nil }

    /// What interceptors around the call get.
    private func wholeArrival(from sending: inout Sending) async throws -> Sending.Arrival {
        try await sending.attempt { response, sending in try await whole(try await sending.admit(response), sending) }
    }

    @inline(__always)
    private func taken(
        _ arrival: Sending.Arrival, _ sending: inout Sending
    ) async throws -> HTTPSession.Response<Bytes> {
        if let destination = arrival.destination {
            return try await receiver(destination).receive(arrival, from: &sending)
        }
        let (response, body) = try await collected(arrival, sending)
        let whole = HTTPSession.Response(
            response, body, to: sending.sent ?? sending.request, after: sending.callHistory)
        if let control = sending.control {
            // A response that was made here came over no wire.
            control.received(upTo: response.hop == HTTP.Hop() ? whole.body.count : response.hop.bodyBytes)
            control.decoded(upTo: whole.body.count)
            try await sending.pass()
        }
        return whole
    }

    /// The response with its body in memory, unless the body goes elsewhere: what interceptors around the call see.
    private func whole(_ arrival: Sending.Arrival, _ sending: Sending) async throws -> Sending.Arrival {
        if arrival.destination != nil { return arrival }
        let response = try await collected(arrival, sending).response
        return Sending.Arrival(response, of: response, isChanged: arrival.isChanged, nil)
    }

    /// The receiver that takes a body to where a hook wants it.
    private func receiver(_ destination: HTTPSession.Destination) throws -> any BodyReceiver {
        guard let receiver = destination.kind as? any BodyReceiver else {
            throw NetworkError(.invalidConfiguration, "the body cannot be written to \(destination.kind)")
        }
        return receiver
    }

    // On a plain request's way, as `taken` is: a call costs it 400 instructions.
    @inline(__always)
    private func collected(_ arrival: Sending.Arrival, _ sending: Sending) async throws -> Sending.Whole {
        guard arrival.isChanged, case .stream = arrival.response.body else {
            return try await sending.collect(arrival.response)
        }
        // Off the loop, since decoding takes time and others wait on the loop.
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
            leaveLoop()
            return try await sending.collect(arrival.response)
        }
    }
}

/// Takes the whole body and makes a value from it before the call is over: for observed calls.
struct SerializedSink<Value>: Sink {
    typealias Taken = Bytes
    typealias Apart = ErasedSink
    typealias Response = HTTPSession.Response

    private let whole = ErasedSink(WholeSink())
    private let session: SessionCore
    private let serializing: Serializing
    private let chosen: any ResponseSerializer
    private let make: @Sendable (Response<Bytes>) async throws -> Response<Value>
    private let share: @Sendable (Value) -> (any Sendable)?

    init<Serializer: ResponseSerializer>(
        _ serializer: Serializer, _ call: HTTPSession.Call, share: @escaping @Sendable (Value) -> (any Sendable)?
    ) where Serializer.Output == Value {
        self.init(serializer, call, share) { $0 }
    }

    /// For a value of any type: what a call does is compiled once, and not for whatever type there may be, which would
    /// cost each request tens of thousands of instructions.
    init(erasing serializer: some ResponseSerializer, _ call: HTTPSession.Call) where Value == Any {
        self.init(serializer, call, { _ in nil }) { $0 }
    }

    /// The value that `serializer` has made, with its type again.
    static func value<Serializer: ResponseSerializer>(
        _ value: Any, of serializer: Serializer
    ) throws -> Serializer.Output where Value == Any {
        guard let value = value as? Serializer.Output else {
            throw NetworkError(.decodingFailed, "\(type(of: serializer)) has made a \(type(of: value))")
        }
        return value
    }

    private init<Serializer: ResponseSerializer>(
        _ serializer: Serializer, _ call: HTTPSession.Call, _ share: @escaping @Sendable (Value) -> (any Sendable)?,
        _ convert: @escaping @Sendable (Serializer.Output) -> Value
    ) {
        let (session, serializing) = (
            call.session,
            Serializing(validates: call.options.validatesResponse, errors: call.reading.errors, body: call.body)
        )
        (self.session, self.serializing, chosen, self.share) = (session, serializing, serializer, share)
        make = { taken in
            let response = try await serializing.value(
                of: taken, by: serializer, with: session.contentSettings, isOnLoop: session.isOnLoop)
            return response.with(value: convert(response.value))
        }
    }

    var serializer: (any ResponseSerializer)? { chosen }

    func take(from sending: inout Sending) async throws -> Response<Bytes> { try await whole.take(from: &sending) }

    func failure(_ error: any Error) -> any Error {
        serializing.failure(error, by: chosen, with: session.contentSettings)
    }

    func body(of taken: Response<Bytes>) -> Bytes? { WholeSink().body(of: taken) }

    func shared(_ value: Response<Value>) -> (any Sendable)? { share(value.value) }

    func value(of taken: Response<Bytes>) async throws -> Response<Value> { try await make(taken) }
}
