internal import DunlinTransport

/// One of the things that may stand between a call and its transport: it may change what is sent, answer what came with
/// another request, and turn what came down.
///
/// A session puts its stages in a row once (`Chain`). What belongs to one call is its driver's; the rules are a
/// machine's, beside it.
protocol Stage: Sendable {
    /// Whether this call passes the stage with every hop. The others are asked only about a hop that failed, or that
    /// was answered with anything but a success.
    func seesAll(of call: LiveCall) -> Bool

    /// Nil for a call that the stage has nothing to do with.
    func driver(for call: LiveCall) -> (any StageDriver)?
}

/// What a stage does about one call.
///
/// What is sent passes the drivers from the first to the last, what comes of it from the last to the first. Who has the
/// call sent again has changed its request before; those behind are told.
protocol StageDriver: AnyObject {
    /// What is sent in the place of `request`, which remains what the call asks for.
    func sending(_ request: TransportRequest, _ call: inout LiveCall) async throws -> TransportRequest

    /// What to do about a response. What it throws is what came of the hop for those before it.
    func received(_ response: TransportResponse, _ call: inout LiveCall) async throws -> StageAction

    /// Returns if the call is to be sent again, and throws what those before it are to see. Waits for nothing that
    /// `rest` can wait for.
    func failed(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again

    /// A response that had passed was not delivered to its end. Throws unless the call is to be sent again.
    func undelivered(_ error: any Error, _ call: inout LiveCall) async throws -> StageAction.Again

    /// Waits until the call may be sent again, as this driver has said it is. What came of the hop is gone by then.
    func rest(_ call: inout LiveCall) async throws

    /// Who comes before has had another request sent.
    func movedOn()

    /// Who comes before has the call begin anew.
    func startOver()
}

enum StageAction {
    /// Whoever comes before gets this.
    case pass(TransportResponse)
    case again(Again)

    enum Again {
        case send
        /// What the call asks for is another request now.
        case sendAnother
        /// As if nothing had been sent yet.
        case startOver
    }
}

extension StageDriver {
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
