internal import DunlinTransport

/// A step between a call and its transport: it has a request sent by `next`, once, several times or not at all, and
/// returns the response that it lets pass.
///
/// What a stage knows of one request are the locals of its function; its rules are in a machine beside it. A session
/// orders its stages once (`Chain`).
protocol Stage: Sendable {
    /// Has `request` sent. Whoever sends again gives back what came before (`discard`) and says why (`again`).
    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse

    /// What of a call the stage has to see.
    func interest(in sending: Sending) -> StageInterest

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

/// What of a call a stage has to see.
enum StageInterest {
    case nothing
    /// Exchanges that fail, or whose status is not a success.
    case failures
    /// Every exchange, before it takes place.
    case everything
}

/// What comes behind a stage: the later stages, and then the exchange.
struct Next {
    private let stages: [any Stage]
    private var index = 0

    init(_ stages: [any Stage]) {
        self.stages = stages
    }

    @inline(__always)
    func callAsFunction(
        _ request: TransportRequest, _ sending: inout Sending
    ) async throws -> TransportResponse {
        var next = self
        while next.index < stages.count {
            let stage = stages[next.index]
            next.index += 1
            if stage.interest(in: sending) != .nothing { return try await stage.send(request, &sending, next) }
        }
        return try await sending.exchange(request)
    }
}
