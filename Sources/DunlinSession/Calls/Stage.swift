internal import DunlinTransport

/// One step between a call and its transport. It may change what is sent, answer a response with another request, and
/// refuse a response.
///
/// A session puts its stages in order once (`Chain`). What belongs to one call is kept by the stage's driver; the rules
/// are in a machine beside it.
protocol Stage: Sendable {
    /// Whether the stage sees every hop of this call. Otherwise it is asked only about a hop that failed, or whose
    /// response was no success.
    func seesAll(of call: LiveCall) -> Bool

    /// Nil for a call that the stage has nothing to do with.
    func driver(for call: LiveCall) -> (any StageDriver)?

    /// What says whose credentials it adds to a request that has no `Authorization` of its own; empty if it adds none.
    func signs(of request: TransportRequest, for call: LiveCall) -> [Access.Sign]

    /// Whether it has learned, in an earlier chain, what makes it see every hop.
    var hasLearned: Bool { get }
}

extension Stage {
    func signs(of request: TransportRequest, for call: LiveCall) -> [Access.Sign] { [] }

    var hasLearned: Bool { false }
}

/// What a stage does for one call.
///
/// A request passes the drivers from the first to the last, its outcome from the last to the first. A driver that has
/// the call sent again has changed its request before; the drivers behind it are told.
protocol StageDriver: AnyObject {
    /// The answer to `request`, if that need not be sent. The drivers behind this one do not hear of it, and neither
    /// does this one again.
    func answer(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportResponse?

    /// The request to send in place of `request`, which remains what the call asks for.
    func sending(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportRequest

    /// What to do about a response. An error it throws is the outcome of the hop for the drivers before it.
    func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction

    /// What is delivered in place of an error, which the driver before this one does not see then.
    func replacement(for error: any Error, _ call: inout LiveCall) async throws -> TransportResponse?

    /// Returns if the call is to be sent again; throws the error that the drivers before it are to see. It does not
    /// wait where `rest` can.
    func failed(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again

    /// A response that had passed was not delivered to its end. Throws unless the call is to be sent again.
    func undelivered(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again

    /// Waits until the call may be sent again, after this driver has asked for it. The response has been given up by
    /// then.
    func rest(_ call: inout LiveCall) async throws

    /// A driver before this one has another request sent.
    func movedOn()

    /// A driver before this one has the call start over.
    func startOver()
}

enum StageAction {
    /// The driver before this one gets this response.
    case pass(TransportResponse)
    case again(Again)

    enum Again {
        case send(SendingReason)
        /// Send again; the call asks for another request now.
        case sendAnother(SendingReason)
        /// Send again, as if nothing had been sent yet.
        case startOver(SendingReason)
    }
}

extension StageDriver {
    func answer(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportResponse? { nil }

    func replacement(for error: any Error, _ call: inout LiveCall) async throws -> TransportResponse? { nil }

    func sending(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportRequest { request }

    func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction {
        .pass(response)
    }

    func failed(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again { throw error }

    func undelivered(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again { throw error }

    func rest(_ call: inout LiveCall) async throws {}

    func movedOn() {}

    func startOver() {}
}
