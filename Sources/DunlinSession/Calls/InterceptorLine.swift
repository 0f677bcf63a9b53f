internal import DunlinReactor

/// A session's interceptors of one place. A request passes them from the first to the last, off the loop, and then what
/// they stand around.
struct InterceptorLine: Sendable {
    private let place: HTTPSession.Interception.Place
    private let interceptors: [any HTTPSession.Interceptor]

    init(_ interceptions: [HTTPSession.Interception], _ place: HTTPSession.Interception.Place) {
        self.place = place
        interceptors = interceptions.filter { $0.place == place }.map(\.interceptor)
    }

    var isEmpty: Bool { interceptors.isEmpty }

    typealias Send = @Sendable (TransportRequest) async throws -> TransportResponse

    /// Runs until the first interceptor returns, or the call is over.
    func run(_ request: TransportRequest, of call: LiveCall, _ send: @escaping Send) async throws -> TransportResponse {
        try await call.foreign { [self] in try await pass(request, from: 0, of: call, send) }
    }

    private func pass(
        _ request: TransportRequest, from index: Int, of call: LiveCall, _ send: @escaping Send
    ) async throws -> TransportResponse {
        guard index < interceptors.count else { return try await send(request) }
        if InterceptorTurn.isWithin(call.session, place, index) {
            return try await pass(request, from: index + 1, of: call, send)
        }
        let interceptor = interceptors[index]
        let (turn, around) = (InterceptorTurn(call.session, place, index), InterceptorTurn.present)
        defer { turn.end() }
        let next = HTTPSession.Next(call.snapshot, hop: place == .call ? 1 : call.hop) { request in
            if let refusal = turn.begin() { throw Self.failure(interceptor, "\(refusal)") }
            defer { turn.answered() }
            // What comes next is not the interceptor's own.
            return try await InterceptorTurn.$present.withValue(around) {
                try await pass(request, from: index + 1, of: call, send)
            }
        }
        do {
            return try await InterceptorTurn.$present.withValue(around + [turn]) {
                try await interceptor.intercept(request, next: next)
            }
        } catch {
            throw Self.explained(error, by: interceptor, call)
        }
    }

    private static func explained(
        _ error: any Error, by interceptor: any HTTPSession.Interceptor, _ call: LiveCall
    ) -> any Error {
        if error is NetworkError || error is CancellationError && call.cancellation.cause != nil { return error }
        return failure(interceptor, "failed: \(error)", error)
    }

    private static func failure(
        _ interceptor: any HTTPSession.Interceptor, _ what: String, _ cause: (any Error)? = nil
    ) -> NetworkError {
        NetworkError(
            .interceptorFailed, "\(type(of: interceptor)) \(what)", requestMayHaveBeenSent: true, underlying: cause)
    }
}

extension LiveCall {
    /// How often the request has been sent, with the present one.
    fileprivate var hop: Int {
        if case .running(let hop) = snapshot.state { hop } else { 1 }
    }
}
