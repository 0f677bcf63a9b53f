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

/// What a stage does for one call. It sees the call as it is, and changes nothing of it: whoever drives the stages does
/// what its action says.
///
/// A request passes the drivers from the first to the last, its outcome from the last to the first. Once a driver has
/// the call sent again, the drivers behind it are told.
protocol StageDriver: AnyObject {
    /// Whether the way to the server is to be chosen before the driver sees a request, for it judges that way.
    func judgesWay(of request: TransportRequest) -> Bool

    /// The answer to `request`, if that need not be sent. The drivers behind this one do not hear of it, and neither
    /// does this one again.
    func answer(_ request: TransportRequest, _ call: LiveCall) async throws -> StageAnswer?

    /// The request to send in place of `request`, which remains what the call asks for.
    func sending(_ request: TransportRequest, _ call: LiveCall) async throws -> TransportRequest

    /// Told what is sent, once all drivers have had their say.
    func goes(_ request: TransportRequest)

    /// What to do about a response. An error it throws is the outcome of the hop for the drivers before it.
    func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction

    /// What to do about an error: the drivers before this one see it, the error that this one throws, or a response in
    /// its place. It does not wait where `rest` can.
    func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction

    /// A response that had passed was not delivered to its end. Returns what undoes the notes with which it passed.
    func takeBack() -> StageNotes

    /// What to do about that, after all drivers have taken theirs back. No other response can take its place.
    func undelivered(_ error: any Error, _ call: LiveCall) async throws -> StageAction

    /// Waits until the call may be sent again, after this driver has asked for it. The response has been given up by
    /// then. Returns what changes then.
    func rest(_ call: LiveCall) async throws -> StageNotes

    /// A driver before this one has another request sent.
    func movedOn()

    /// A driver before this one has the call start over.
    func startOver()
}

/// What is to become of a hop.
enum StageAction {
    /// The driver before this one gets this response.
    case pass(TransportResponse, StageNotes = StageNotes())
    /// The driver before this one gets this error.
    case fail(any Error, StageNotes = StageNotes())
    case again(Again, StageNotes = StageNotes())

    enum Again {
        case send(SendingReason)
        /// Send again; the call asks for another request now.
        case sendAnother(SendingReason)
        /// Send again, as if nothing had been sent yet.
        case startOver(SendingReason)
    }
}

/// A response in place of a sending.
struct StageAnswer {
    let response: TransportResponse
    var notes = StageNotes()
}

/// What an action changes of the call. Stages change nothing else.
struct StageNotes {
    /// What the call asks for from now on; nil for the same as before.
    var request: TransportRequest?
    /// What came before; nil for the same as before.
    var callHistory: CallHistory??
    /// Whether the body of the answer is another than what came over the wire; nil for what was known.
    var hasMadeBody: Bool?
    /// The way that was chosen to be judged; nil for none.
    var chosen: ChosenTerms?
}

extension StageDriver {
    func judgesWay(of request: TransportRequest) -> Bool { false }

    func answer(_ request: TransportRequest, _ call: LiveCall) async throws -> StageAnswer? { nil }

    func sending(_ request: TransportRequest, _ call: LiveCall) async throws -> TransportRequest { request }

    func goes(_ request: TransportRequest) {}

    func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction { .pass(response) }

    func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction { .fail(error) }

    func takeBack() -> StageNotes { StageNotes() }

    func undelivered(_ error: any Error, _ call: LiveCall) async throws -> StageAction { .fail(error) }

    func rest(_ call: LiveCall) async throws -> StageNotes { StageNotes() }

    func movedOn() {}

    func startOver() {}
}
