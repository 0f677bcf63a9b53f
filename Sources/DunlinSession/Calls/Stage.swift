internal import DunlinTransport

/// A step between a call and its transport. It may change what is sent, answer a response with another request, or
/// refuse a response.
///
/// A session orders its stages once (`Chain`). The stage's driver holds the state of one call; the rules are in a
/// machine beside it.
protocol Stage: Sendable {
    /// Whether the stage sees every hop of this call. Otherwise it is asked only about hops that failed or whose status
    /// was not a success.
    func seesAll(of call: LiveCall) -> Bool

    /// The driver for a call; nil if the stage has nothing to do with it.
    func driver(for call: LiveCall) -> (any StageDriver)?

    /// The signs of whose credentials the stage adds to a request without its own `Authorization`; empty if it adds
    /// none.
    func signs(of request: TransportRequest, for asking: Asking) -> [Access.Sign]

    /// Whether the stage has learned, in an earlier chain, that it must see every hop.
    var hasLearned: Bool { get }
}

extension Stage {
    func signs(of request: TransportRequest, for asking: Asking) -> [Access.Sign] { [] }

    var hasLearned: Bool { false }
}

/// A stage's work for one call. It sees a copy of the call and changes nothing itself: its actions are carried out by
/// whoever drives the stages.
///
/// A request passes the drivers from first to last, its outcome from last to first. When a driver has the call sent
/// again, the drivers behind it are told.
protocol StageDriver: AnyObject {
    /// Whether the way to the server must be chosen before the driver sees a request, because it judges the way.
    func judgesWay(of request: TransportRequest) -> Bool

    /// The answer to `request`, if it need not be sent. The drivers behind this one are not told of it, nor is this one
    /// again.
    func answer(_ request: TransportRequest, _ call: LiveCall) async throws -> StageAnswer?

    /// The request to send instead of `request`, which remains what the call asks for.
    func sending(_ request: TransportRequest, _ call: LiveCall) async throws -> TransportRequest

    /// Called with the request that is sent, once all drivers have contributed.
    func goes(_ request: TransportRequest)

    /// The action for a response. An error that this throws is the hop's outcome for the drivers before it.
    func received(_ response: TransportResponse, _ call: LiveCall) async throws -> StageAction

    /// The action for an error: the drivers before this one see that error, the one that this throws, or a response
    /// instead. It does not wait if `rest` can do so.
    func failed(_ error: any Error, _ call: LiveCall) async throws -> StageAction

    /// Undoes the passing of a response that was not delivered to its end. Returns the notes that undo its notes.
    func takeBack() -> StageNotes

    /// The action for that failure, after all drivers have taken back their notes. No other response can be given
    /// instead.
    func undelivered(_ error: any Error, _ call: LiveCall) async throws -> StageAction

    /// Waits until the call may be sent again, after this driver has asked for it. The response has been discarded by
    /// then. Returns what has changed.
    func rest(_ call: LiveCall) async throws -> StageNotes

    /// Called when a driver before this one has another request sent.
    func movedOn()

    /// Called when a driver before this one has the call start over.
    func startOver()
}

/// What happens next with a hop.
enum StageAction {
    /// Pass this response to the driver before this one.
    case pass(TransportResponse, StageNotes = StageNotes())
    /// Pass this error to the driver before this one.
    case fail(any Error, StageNotes = StageNotes())
    case again(Again, StageNotes = StageNotes())

    enum Again {
        case send(SendingReason)
        /// Send again; the call now asks for another request.
        case sendAnother(SendingReason)
        /// Send again as if nothing had been sent yet.
        case startOver(SendingReason)
    }
}

/// A response instead of a sending.
struct StageAnswer {
    let response: TransportResponse
    var notes = StageNotes()
}

/// The changes that an action makes to the call. Stages change nothing else.
struct StageNotes {
    /// What the call asks for from now on; nil for no change.
    var request: TransportRequest?
    /// The call's history; nil for no change.
    var callHistory: CallHistory??
    /// Whether the answer's body is not the one that was received; nil for no change.
    var hasMadeBody: Bool?
    /// The way that was chosen for judging; nil for none.
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
